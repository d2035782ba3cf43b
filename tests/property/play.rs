//! One case from its first delivery until nothing moves any more.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use oncebox::testing::MemoryStore;
use oncebox::time::{Clock, Deadline};

use crate::checks::{self, Check};
use crate::queue::{Answer, Place, Queue};
use crate::scenario::{Delivery, Scenario};
use crate::state::State;
use crate::verdicts;
use crate::world::{self, World};

/// Deliveries in good weather, until everything that can go has gone.
const CALM_DELIVERIES: usize = 40;
const CALM: Delivery = Delivery { deadline: 60_000, dies: None };

pub(crate) fn play(scenario: &Scenario) -> Check {
    // The engine's jitter, the same for the same case.
    fastrand::seed(1);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(all(scenario))
}

async fn all(scenario: &Scenario) -> Check {
    let memory = world::memory();
    let world = World::new(scenario, Arc::new(memory.clone()));
    let mut queue = Queue::new(scenario);
    for delivery in &scenario.deliveries {
        deliver(&world, &memory, &mut queue, *delivery).await?;
    }
    world.weather.clear_up();
    for _ in 0..CALM_DELIVERIES {
        queue.redrive();
        let moving = |place: Place| place == Place::Waiting;
        let messages = &queue.messages;
        if messages.iter().all(|message| !moving(message.place) || checks::stuck(scenario, &queue, message)) {
            break;
        }
        deliver(&world, &memory, &mut queue, CALM).await?;
    }
    queue.redrive();
    // Calls that nobody waits for any more come to their end.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let state = State::read(&memory)?;
    checks::always(&queue, &state)?;
    checks::at_last(scenario, &world, &queue, &state)
}

async fn deliver(world: &World, memory: &MemoryStore, queue: &mut Queue, delivery: Delivery) -> Check {
    let Some(batch) = queue.batch() else { return Ok(()) };
    let deadline: Deadline = world.clock.deadline_in(delivery.deadline);
    let handling = join_all(world.consumers.iter().map(|consumer| consumer.handle(&batch.json, deadline)));
    let dies = Duration::from_millis(delivery.dies.unwrap_or(u64::MAX / 1000));
    let answers: Vec<Answer> = tokio::time::timeout(dies, handling).await.unwrap_or_default();
    for counts in verdicts::take() {
        verdicts::check(&counts)?;
    }
    let now = world.clock.now();
    if now > deadline.at() {
        return Err(format!("the answer came {} too late", now.duration_since(deadline.at())));
    }
    for answer in &answers {
        checks::answer(queue, &batch, answer)?;
    }
    if answers.len() == 1 {
        checks::delays(world, queue, &batch, &answers, deadline)?;
    } else {
        world.delays.take();
    }
    queue.settle(&batch, &answers);
    checks::always(queue, &State::read(memory)?)?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(())
}
