use std::future::Future;
use std::time::Duration;

/// A call that takes `before` ms to arrive and whose answer takes `after` ms. It is a task of its own: a caller that stops
/// waiting does not stop a call that is on its way.
///
/// # Panics
/// When the call does.
pub async fn on_its_way<T: Send + 'static>(
    before: u64,
    after: u64,
    call: impl Future<Output = T> + Send + 'static,
) -> T {
    if before + after == 0 {
        return call.await;
    }
    let task = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(before)).await;
        let answer = call.await;
        tokio::time::sleep(Duration::from_millis(after)).await;
        answer
    });
    match task.await {
        Ok(answer) => answer,
        Err(failed) => std::panic::resume_unwind(failed.into_panic()),
    }
}
