//! Work on many items by all cores.

use std::num::NonZero;
use std::thread;

/// Does `work` on the items in as many parts as there are cores, each of at least `least` items if there are so many.
/// Returns the results in the order of the items.
pub(super) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    least: usize,
    work: impl Fn(&[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    let n_parts = n_cores.min(items.len() / least.max(1)).max(1);
    let parts = items.chunks(items.len().div_ceil(n_parts).max(1));
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = parts
            .map(|part| (part, thread::Builder::new().spawn_scoped(scope, move || work(part))))
            .collect();
        let done = threads.into_iter().map(|(part, thread)| {
            let done = thread.ok().and_then(|thread| thread.join().ok());
            // If the thread could not be started, or panicked, this one does its work.
            done.unwrap_or_else(|| work(part))
        });
        done.flatten().collect()
    })
}
