//! A thread pool for calls that may take long, with as many threads as there are concurrent calls.
//! Node's own pool has few threads, and they serve file and DNS requests that callbacks of such calls
//! may wait for.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time after which an idle thread ends.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    n_idle: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { jobs: VecDeque::new(), n_idle: 0 });
static WAKE: Condvar = Condvar::new();

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a job on a thread of the pool. Fails if no thread is idle and none can be started.
pub(crate) fn run(job: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let mut now = queue();
    now.jobs.push_back(Box::new(job));
    if now.n_idle >= now.jobs.len() {
        WAKE.notify_one();
        return Ok(());
    }
    drop(now);
    std::thread::Builder::new().name("repertoire".to_owned()).spawn(work).map(drop)
}

fn work() {
    while let Some(job) = next() {
        job();
    }
}

/// Returns the next job; `None` if no job arrives for [`IDLE`].
fn next() -> Option<Job> {
    let mut now = queue();
    if let Some(job) = now.jobs.pop_front() {
        return Some(job);
    }
    now.n_idle += 1;
    let has_none = |queue: &mut Queue| queue.jobs.is_empty();
    let waited = WAKE.wait_timeout_while(now, IDLE, has_none);
    let (mut now, _) = waited.unwrap_or_else(PoisonError::into_inner);
    now.n_idle -= 1;
    now.jobs.pop_front()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn jobs_that_wait_for_each_other_all_run() {
        let (tell, told) = mpsc::channel();
        let mut last = tell;
        for _ in 0..16 {
            let (next, heard) = mpsc::channel();
            run(move || {
                let _ = last.send(heard.recv().is_ok());
            })
            .unwrap();
            last = next;
        }
        last.send(true).unwrap();
        assert_eq!(told.recv_timeout(Duration::from_secs(20)), Ok(true));
    }
}
