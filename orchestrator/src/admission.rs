//! Who renders when: a few slots, a bounded queue of interactive requests, and jobs in between.
//!
//! Order: interactive requests come first, in the order they arrived; after `batch_every` of them in a row a
//! waiting job has a turn, so that jobs are slow under load but never starve. A request that gives up, or whose
//! client hangs up, leaves the queue at once; a slot is free again when the render in it has really stopped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// How a finished frame moves the average: a fifth new, the rest old.
const AVERAGE_SHARE: f64 = 0.2;

/// Bounds of the advice in `Retry-After`. *Units*: seconds.
const RETRY_AFTER_S: (f64, f64) = (1.0, 60.0);

/// The queue before the renderer.
#[derive(Debug)]
pub struct Admission {
    concurrent: usize,
    queue_limit: usize,
    batch_every: u32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Interactive requests let in: those that read their body, wait or render.
    admitted: usize,
    running: usize,
    interactive: VecDeque<oneshot::Sender<Slot>>,
    batch: VecDeque<oneshot::Sender<Slot>>,
    /// Interactive slots given since a job had its turn.
    in_a_row: u32,
    /// Average time a slot is held. *Units*: seconds.
    average_s: Option<f64>,
}

/// The queue is full. Advice for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full {
    /// When it may be shorter.
    pub retry_after_s: u64,
}

/// How many are where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Load {
    pub interactive_waiting: usize,
    pub batch_waiting: usize,
    pub rendering: usize,
}

/// A place among the interactive requests let in. Dropped, it is free.
#[derive(Debug)]
pub struct Ticket(Arc<Admission>);

/// The right to render one frame. Dropped, the next one has it.
#[derive(Debug)]
pub struct Slot {
    /// None once the slot has been taken back.
    admission: Option<Arc<Admission>>,
    since: Instant,
}

impl Admission {
    /// `concurrent` renders at once, `queue_limit` interactive requests beyond those, and a job after
    /// `batch_every` interactive frames in a row.
    pub fn new(concurrent: usize, queue_limit: usize, batch_every: u32) -> Arc<Admission> {
        Arc::new(Admission { concurrent, queue_limit, batch_every, state: Mutex::default() })
    }

    /// Lets an interactive request in, or refuses it at once.
    pub fn enter(self: &Arc<Admission>) -> Result<Ticket, Full> {
        let mut state = self.state();
        if state.admitted >= self.concurrent + self.queue_limit {
            return Err(Full { retry_after_s: self.retry_after_s(&state) });
        }
        state.admitted += 1;
        Ok(Ticket(self.clone()))
    }

    /// A slot for a frame of a job, when its turn comes.
    pub async fn batch_slot(self: &Arc<Admission>) -> Slot {
        self.wait(|state| &mut state.batch).await
    }

    /// When a request refused now may find room. *Units*: seconds.
    pub fn retry_after(&self) -> u64 {
        self.retry_after_s(&self.state())
    }

    /// How many are where.
    pub fn load(&self) -> Load {
        let state = self.state();
        let waiting =
            |queue: &VecDeque<oneshot::Sender<Slot>>| queue.iter().filter(|w| !w.is_closed()).count();
        Load {
            interactive_waiting: waiting(&state.interactive),
            batch_waiting: waiting(&state.batch),
            rendering: state.running,
        }
    }

    async fn wait(
        self: &Arc<Admission>,
        queue: impl FnOnce(&mut State) -> &mut VecDeque<oneshot::Sender<Slot>>,
    ) -> Slot {
        let (give, given) = oneshot::channel();
        {
            let mut state = self.state();
            let queue = queue(&mut state);
            // Those who gave up leave here, so that the queue never holds more than those let in.
            queue.retain(|waiting| !waiting.is_closed());
            queue.push_back(give);
        }
        self.give_slots();
        // The sender stays in the queue until it is used: this cannot fail.
        given.await.unwrap_or_else(|_| Slot { admission: None, since: Instant::now() })
    }

    /// Gives free slots to those who wait.
    fn give_slots(self: &Arc<Admission>) {
        loop {
            let mut state = self.state();
            if state.running >= self.concurrent {
                return;
            }
            let Some(next) = state.next(self.batch_every) else { return };
            state.running += 1;
            drop(state);
            let slot = Slot { admission: Some(self.clone()), since: Instant::now() };
            if let Err(mut unwanted) = next.send(slot) {
                // Its owner gave up; taken back by hand, for dropping it would come here again.
                unwanted.admission = None;
                self.state().running -= 1;
            }
        }
    }

    fn retry_after_s(&self, state: &State) -> u64 {
        let average_s = state.average_s.unwrap_or(RETRY_AFTER_S.0);
        let ahead = state.admitted as f64 / self.concurrent as f64;
        (ahead * average_s).clamp(RETRY_AFTER_S.0, RETRY_AFTER_S.1).ceil() as u64
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self, batch_every: u32) -> Option<oneshot::Sender<Slot>> {
        let batch_turn = self.in_a_row >= batch_every && !self.batch.is_empty();
        let interactive = if batch_turn { None } else { self.interactive.pop_front() };
        match interactive {
            Some(waiting) => {
                self.in_a_row = self.in_a_row.saturating_add(1);
                Some(waiting)
            }
            None => {
                self.in_a_row = 0;
                self.batch.pop_front()
            }
        }
    }
}

impl Ticket {
    /// The slot, when the turn comes. Dropping the wait gives up the turn.
    pub async fn slot(&self) -> Slot {
        self.0.wait(|state| &mut state.interactive).await
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.state().admitted -= 1;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Some(admission) = self.admission.take() else { return };
        admission.state().release(self.since.elapsed());
        admission.give_slots();
    }
}

impl State {
    fn release(&mut self, held: Duration) {
        self.running -= 1;
        let held_s = held.as_secs_f64();
        let average_s = self.average_s.unwrap_or(held_s);
        self.average_s = Some(average_s + (held_s - average_s) * AVERAGE_SHARE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
    }

    /// Polls a future once.
    macro_rules! once {
        ($future:expr) => {
            futures_util::FutureExt::now_or_never($future)
        };
    }

    #[test]
    fn as_many_enter_as_fit_and_leaving_makes_room() {
        let admission = Admission::new(2, 3, 4);
        let mut tickets: Vec<_> = (0..5).map(|_| admission.enter().expect("room")).collect();
        let full = admission.enter().expect_err("full");
        assert!((1..=60).contains(&full.retry_after_s));
        tickets.pop();
        admission.enter().expect("room again");
    }

    #[test]
    fn slots_go_round_in_order() {
        runtime().block_on(async {
            let admission = Admission::new(1, 8, 4);
            let [first, second, third] = [0; 3].map(|_| admission.enter().expect("room"));
            let slot = first.slot().await;
            let mut second_waits = Box::pin(second.slot());
            let mut third_waits = Box::pin(third.slot());
            assert!(once!(second_waits.as_mut()).is_none() && once!(third_waits.as_mut()).is_none());
            assert_eq!(admission.load(), Load { interactive_waiting: 2, batch_waiting: 0, rendering: 1 });
            drop(slot);
            assert!(once!(third_waits.as_mut()).is_none(), "not before the second");
            let slot = once!(second_waits.as_mut()).expect("its turn");
            drop(slot);
            once!(third_waits.as_mut()).expect("its turn");
        });
    }

    #[test]
    fn giving_up_frees_the_place_and_the_slot() {
        runtime().block_on(async {
            let admission = Admission::new(1, 8, 4);
            let [first, second, third] = [0; 3].map(|_| admission.enter().expect("room"));
            let slot = first.slot().await;
            let mut second_waits = Box::pin(second.slot());
            let mut third_waits = Box::pin(third.slot());
            assert!(once!(second_waits.as_mut()).is_none() && once!(third_waits.as_mut()).is_none());
            drop(second_waits);
            drop(slot);
            let slot = once!(third_waits.as_mut()).expect("the second gave up");
            // A slot given but never taken comes back too.
            let mut second_waits = Box::pin(second.slot());
            assert!(once!(second_waits.as_mut()).is_none());
            drop(slot);
            drop(second_waits);
            assert_eq!(admission.load().rendering, 0);
            once!(Box::pin(first.slot())).expect("free");
        });
    }

    #[test]
    fn jobs_wait_for_requests_but_never_for_ever() {
        runtime().block_on(async {
            let admission = Admission::new(1, 100, 3);
            let tickets: Vec<_> = (0..8).map(|_| admission.enter().expect("room")).collect();
            let mut slot = tickets[0].slot().await;
            let mut job = Box::pin(admission.batch_slot());
            assert!(once!(job.as_mut()).is_none());
            let mut waits: VecDeque<_> = tickets[1..].iter().map(|ticket| Box::pin(ticket.slot())).collect();
            waits.iter_mut().for_each(|wait| assert!(once!(wait.as_mut()).is_none()));
            for served in 1.. {
                drop(slot);
                if let Some(turn) = once!(job.as_mut()) {
                    assert_eq!(served, 3, "after three interactive frames");
                    drop(turn);
                    break;
                }
                slot = once!(waits.pop_front().expect("not starved").as_mut()).expect("in order");
            }
        });
    }

    #[test]
    fn a_release_while_many_have_given_up_does_not_recurse() {
        runtime().block_on(async {
            let admission = Admission::new(1, 100_000, 4);
            let ticket = admission.enter().expect("room");
            let slot = ticket.slot().await;
            let mut waits: Vec<_> = (0..2000).map(|_| Box::pin(ticket.slot())).collect();
            waits.iter_mut().for_each(|wait| assert!(once!(wait.as_mut()).is_none()));
            drop(waits);
            drop(slot);
            assert_eq!(admission.load(), Load::default());
        });
    }
}
