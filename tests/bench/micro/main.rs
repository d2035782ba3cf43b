//! Micro-benchmarks in time: `cargo bench -p oncebox-bench --bench micro`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "work that is not done must end the process, not be measured"
)]

mod work;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

criterion_group!(benches, all);
criterion_main!(benches);

fn all(criterion: &mut Criterion) {
    work::log_to_nowhere();
    for work in work::ALL {
        criterion.bench_function(work.name, |bencher| {
            bencher.iter_batched_ref(|| (work.prepare)(1), |round| round(0), BatchSize::PerIteration);
        });
    }
}
