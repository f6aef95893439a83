//! One exploration of a recording by the agent itself: the kernel's own step with the shipped
//! chart and its budgets, without a journal.

use std::{
    collections::HashMap,
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context as Poll, Waker},
};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use pointsman_agents::explore::{
    CHART, DeviceAction, ExploreAgent, ExploreReport, ExploreTask, Foreground, Screen, raised,
};
use pointsman_kernel::{
    StepResult,
    agent::{Answer, Order},
    chart::{Chart, Maximum, verify, with_budgets},
    effect::{EffectKind, StepOutput},
    event::{Event, Observed, RunConfig, Usage},
    governor::Permissions,
    id::At,
    job::{AgentDecl, Registry},
    run::Run,
    step,
};
use pointsman_webdriver::device::{Device, Gesture, GroundTruth, Recording};
use serde_json::{json, value::RawValue};

/// Screens as the agent sees them, by state of the recording.
pub(super) type Screens = HashMap<String, Arc<Screen>>;

/// What came of an exploration.
pub(super) struct Exploration {
    /// The states that were seen, one more than actions.
    pub(super) visited: Vec<String>,
    /// What the agent took each state for, at the end of the run.
    pub(super) ids: HashMap<String, String>,
}

/// Returns the chart with the budgets of so many actions.
pub(super) fn chart(actions: u64) -> Result<Chart> {
    let agents: [AgentDecl; 1] = [<ExploreAgent as pointsman_kernel::agent::Agent>::DECL];
    let registry = Registry { agents: &agents, tools: &[], children: &[] };
    let verified = |text: &str| verify(text, &registry).map_err(|refused| anyhow!("{refused:?}"));
    let mut maxima = raised(&verified(CHART)?, actions, &[]);
    maxima.push(("actions".into(), actions.to_string()));
    let maxima = maxima.iter().map(|(budget, amount)| Maximum { budget, amount, lowers: false });
    verified(&with_budgets(CHART, maxima).map_err(|error| anyhow!("{error:?}"))?)
}

/// Explores a recording to the budget.
pub(super) fn explore(
    chart: &Chart,
    device: &Recording,
    screens: &mut Screens,
    only: Option<&GroundTruth>,
    seed: u64,
) -> Result<Exploration> {
    watched(chart, device, screens, only, seed, |_, _| {})
}

/// Explores a recording to the budget, and shows every task with its report.
pub(super) fn watched(
    chart: &Chart,
    device: &Recording,
    screens: &mut Screens,
    only: Option<&GroundTruth>,
    seed: u64,
    mut watch: impl FnMut(&ExploreTask, &ExploreReport),
) -> Result<Exploration> {
    let mut run: Run<ExploreAgent> = Run::new(chart);
    let mut out: StepOutput<ExploreTask> = StepOutput::default();
    let mut visited = vec![device.at()];
    let (mut ids, mut captured) = (HashMap::new(), false);
    let config = json!({
        "app": {"package": device.package()}, "policy": "max_coverage", "exhaust": true,
        "seed": seed,
    });
    let mut event = Event::Begun(Box::new(RunConfig {
        chart: chart.name().to_owned(),
        version: chart.version(),
        digest: chart.digest(),
        seed,
        permissions: Permissions::allow_all(),
        tools: Vec::new(),
        checks: false,
        queued: false,
        config: RawValue::from_string(config.to_string())?,
        place: None,
    }));
    for now in 0_u64.. {
        let (next, observed) = (run.core.next, Observed { at: At(now), event });
        let took = step(chart, &mut run, next, observed, &mut out);
        ensure!(matches!(took, Ok(StepResult::Applied)), "an event is not taken: {took:?}");
        // A screen was just captured, so the agent knows where it is.
        if let Some(node) = run.data.here().filter(|_| captured) {
            let id = node.id.as_str().split('+').next().unwrap_or_default();
            ids.insert(device.at(), id.to_owned());
        }
        if run.core.ended.is_some() {
            break;
        }
        let started = out.effects.iter().find_map(|effect| match &effect.order {
            EffectKind::Start(order) => Some((effect.id, order.clone())),
            _ => None,
        });
        let Some((effect, Order::Own { task, .. })) = started else {
            bail!("the agent waits in `{}`", chart.state_name(run.core.state));
        };
        let report = perform(device, screens, only, &task, now)?;
        watch(&task, &report);
        captured = matches!(report, ExploreReport::Captured { .. });
        if let ExploreReport::Performed { .. } = &report {
            visited.push(device.at());
        }
        let mut usage = Usage::default();
        if let ExploreReport::Captured { screen, .. } = &report
            && chart.state_name(run.core.state) == "verify"
        {
            let outside = screen.front(device.package()) == Foreground::Elsewhere;
            usage.outside_app = u64::from(outside);
        }
        event = Event::Answered { effect, answer: Answer::Own(report), usage, sent: None };
    }
    Ok(Exploration { visited, ids })
}

fn perform(
    device: &Recording,
    screens: &mut Screens,
    only: Option<&GroundTruth>,
    task: &ExploreTask,
    now: u64,
) -> Result<ExploreReport> {
    let key = now.to_string();
    Ok(match task {
        ExploreTask::Session | ExploreTask::Settle => ExploreReport::Done,
        ExploreTask::Inspect(_) => ExploreReport::Installed(Some(0)),
        ExploreTask::Capture | ExploreTask::Verify => {
            let screen = look(device, screens, only)?;
            ExploreReport::Captured { screen: Screen::clone(&screen), running: true }
        }
        ExploreTask::Launch(app) => {
            ExploreReport::Performed { step: ready(device.launch(&app.package, &key))? }
        }
        ExploreTask::Restart(app) => {
            ExploreReport::Performed { step: ready(device.restart(&app.package, &key))? }
        }
        ExploreTask::Wait => {
            let wait = Gesture { act: DeviceAction::Wait, ..Gesture::default() };
            ExploreReport::Performed { step: ready(device.act(&wait, &key))? }
        }
        ExploreTask::Perform { act, target, direction, text } => {
            let ordinal = target.and_then(|it| usize::try_from(it.ordinal).ok());
            let bounds = target.and_then(|it| it.bounds);
            let (act, direction, text) = (*act, *direction, text.clone());
            let gesture = Gesture { act, target: ordinal, bounds, direction, text };
            ExploreReport::Performed { step: ready(device.act(&gesture, &key))? }
        }
        ExploreTask::Check => {
            let screen = look(device, screens, only)?;
            let in_front = screen.package == device.package();
            ExploreReport::Health { session: true, running: true, in_front }
        }
        task => bail!("a recording cannot do {task:?}"),
    })
}

/// Returns the screen of the current state, with only known actions if requested.
pub(super) fn look(
    device: &Recording,
    screens: &mut Screens,
    only: Option<&GroundTruth>,
) -> Result<Arc<Screen>> {
    let at = device.at();
    if let Some(screen) = screens.get(&at) {
        return Ok(Arc::clone(screen));
    }
    let look = ready(device.look())?;
    let mut screen = Screen::read(&look.tree, &look.package, &look.activity);
    if let Some(known) = only.and_then(|truth| truth.known.get(&at)) {
        for widget in &mut screen.widgets {
            let node = usize::try_from(widget.ordinal)?;
            let taps = |act: DeviceAction, element: usize| {
                let mut around = look.tree.around(element);
                let reached = match act {
                    DeviceAction::Tap => around.find(|(_, it)| it.clickable),
                    DeviceAction::LongPress => around.find(|(_, it)| it.long_clickable),
                    _ => None,
                };
                reached.map_or(element, |(ordinal, _)| ordinal)
            };
            widget.acts.retain(|act| {
                let node = Some(taps(*act, node));
                known.iter().any(|it| it.gesture.act == *act && it.gesture.target == node)
            });
        }
        screen.widgets.retain(|widget| !widget.acts.is_empty());
    }
    let screen = Arc::new(screen);
    screens.insert(at, Arc::clone(&screen));
    Ok(screen)
}

/// Returns what a recording answers, which it does at once.
pub(super) fn ready<T, E>(answer: impl Future<Output = Result<T, E>>) -> Result<T>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let mut answer = pin!(answer);
    match answer.as_mut().poll(&mut Poll::from_waker(Waker::noop())) {
        std::task::Poll::Ready(answer) => answer.context("the recording"),
        std::task::Poll::Pending => bail!("a recording answers at once"),
    }
}
