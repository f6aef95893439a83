//! The executor: carries the agent's own tasks out. Neither reaches a browser or a person.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use pointsman_runtime::{
    effect::Permit,
    executor::{Executor, TaskFuture},
};

use crate::agent::{Beekeeper, Report, Task};

/// Opens hives and looks at the sky, and counts how often.
#[derive(Clone, Default)]
pub struct Apiary {
    pub opened: Arc<AtomicU32>,
    /// Whether the sky takes its time: the program is stopped meanwhile.
    pub slow: bool,
}

impl Executor<Beekeeper> for Apiary {
    fn perform(&self, permit: Permit, task: Task) -> TaskFuture<Report> {
        let apiary = self.clone();
        Box::pin(async move {
            // A permit says that the order was written before it is carried out.
            assert_eq!(permit.agent, "beekeeper");
            Ok(match task {
                Task::Extract { hive } => {
                    apiary.opened.fetch_add(1, Ordering::Relaxed);
                    Report::Frames(u32::try_from(hive.len()).unwrap_or(u32::MAX))
                }
                Task::Ask { .. } => {
                    if apiary.slow {
                        tokio::time::sleep(Duration::from_secs(3600)).await;
                    }
                    Report::Weather { fine: true }
                }
            }
            .into())
        })
    }
}
