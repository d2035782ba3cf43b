//! One case from its first transaction until nothing moves any more.

use std::time::Duration;

use futures::future::{join_all, try_join_all};
use oncebox::relay::Sweeper;

use crate::checks::{self, Check};
use crate::mapping::Shard;
use crate::producer::produce;
use crate::scenario::{GRACE, Run, Scenario};
use crate::world::World;

/// Invocations of one shard in good weather.
const CALM_INVOCATIONS: usize = 200;
/// Sweeps in good weather: each row may need as many as its attempts, and wait for those before it.
const CALM_SWEEPS: usize = 200;
const CALM: Run = Run { wait: 0, deadline: 60_000, dies: None, cold: false };

pub(crate) fn play(scenario: &Scenario) -> Check {
    // The jitter, the same for the same case.
    fastrand::seed(1);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(all(scenario))
}

async fn all(scenario: &Scenario) -> Check {
    let world = World::new(scenario);
    let mut shards: Vec<Shard<'_, '_>> =
        (0..scenario.invocations.len()).map(|number| Shard::new(&world, number)).collect();
    let invocations = try_join_all(shards.iter_mut().zip(&scenario.invocations).map(invoke));
    let sweeps = join_all(scenario.sweeps.iter().map(|runs| sweep(&world, runs)));
    let (invoked, _, ()) = tokio::join!(invocations, sweeps, produce(&world));
    invoked?;
    world.clear_up();
    for shard in &mut shards {
        let mut left = CALM_INVOCATIONS;
        while left > 0 && shard.invoke(CALM).await? {
            left -= 1;
        }
        if left == 0 {
            return Err("a shard does not come to its end".to_owned());
        }
    }
    // Calls that nobody waits for any more come to their end, and rows come of age.
    tokio::time::sleep(Duration::from_millis(GRACE)).await;
    for _ in 0..CALM_SWEEPS {
        if checks::is_quiet(&world) {
            break;
        }
        sweep(&world, &[Run { wait: 61_000, ..CALM }]).await;
    }
    checks::at_last(&world)
}

async fn invoke((shard, runs): (&mut Shard<'_, '_>, &Vec<Run>)) -> Check {
    for run in runs {
        shard.invoke(*run).await?;
    }
    Ok(())
}

async fn sweep(world: &World<'_>, runs: &[Run]) {
    let mut instance: Option<Sweeper> = None;
    for run in runs {
        tokio::time::sleep(Duration::from_millis(run.wait)).await;
        if run.cold {
            instance = None;
        }
        let sweeper = instance.get_or_insert_with(|| world.sweeper()).clone();
        let ends = Duration::from_millis(run.dies.unwrap_or(u64::MAX).min(run.deadline));
        match tokio::time::timeout(ends, sweeper.sweep(world.clock.deadline_in(run.deadline))).await {
            Ok(Ok(swept)) => *world.odd.lock().unwrap() += swept.odd,
            Ok(Err(_)) => {}
            Err(_) => instance = None,
        }
    }
}
