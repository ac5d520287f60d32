//! Work on many items by all cores.

use std::num::NonZero;
use std::thread;

/// Does `work` on the items in at most as many parts as there are cores, each of at least `least` items if there are so
/// many; the first one on this thread. Returns the results in the order of the items.
pub(super) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    least: usize,
    work: impl Fn(&[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    let n_parts = n_cores.min(items.len() / least.max(1)).max(1);
    let mut parts = items.chunks(items.len().div_ceil(n_parts).max(1));
    let first = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = parts
            .map(|part| (part, thread::Builder::new().spawn_scoped(scope, move || work(part))))
            .collect();
        let mut done = work(first);
        for (part, thread) in others {
            let results = thread.ok().and_then(|thread| thread.join().ok());
            // If the thread could not be started, or panicked, this one does its work.
            done.extend(results.unwrap_or_else(|| work(part)));
        }
        done
    })
}
