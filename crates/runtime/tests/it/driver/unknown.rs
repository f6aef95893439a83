//! Writes whose answer is lost: no effect is started twice, and none is left out.

use std::sync::{Arc, atomic::Ordering};

use pointsman_kernel::{chart::Disposition, governor::Permissions, id::Seq};
use pointsman_runtime::{
    clock::new_run_id,
    driver::DriverContext,
    store::{MemoryStore, Store},
};
use pointsman_testing::conformance::{Planted, PlantedFault};

use super::{World, begin_with, begun, research, to_the_end};

/// Drives a run over a store, and returns how many tasks were started and how many entries there
/// are.
async fn driven(store: Arc<dyn Store>) -> (usize, usize) {
    let world = World::new(0);
    let context = DriverContext {
        agents: Arc::new(pointsman_agents::all()),
        store: Arc::clone(&store),
        executor: Arc::<World>::clone(&world),
        observers: Vec::new(),
    };
    let program = research();
    let begun = begun(&program.0, Permissions::allow_all());
    let mut driver = begin_with(context, program, new_run_id(), begun).await;
    assert_eq!(to_the_end(&mut driver).await, Some(Disposition::Succeeded));
    let lines = store.lines(driver.id(), Seq(0)).await.expect("the journal lines are readable");
    drop(driver);
    (world.started.load(Ordering::SeqCst), lines.len())
}

#[tokio::test]
async fn lost_write_is_looked_for_before_it_is_repeated() {
    let (tasks, entries) = driven(Arc::new(MemoryStore::new())).await;
    assert_eq!((tasks, entries), (4, 5));
    for write in 1..=5 {
        for kept in [false, true] {
            let fault = PlantedFault::Unknown { write, kept };
            let store = Planted::new(Arc::new(MemoryStore::new()), fault);
            assert_eq!(driven(Arc::new(store)).await, (tasks, entries), "{fault:?}");
        }
    }
}
