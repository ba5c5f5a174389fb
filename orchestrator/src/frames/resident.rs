//! What stays in memory between frames: least recently used goes first, bounded by bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Shared values by hash, within a limit of bytes.
#[derive(Debug)]
pub(super) struct Resident<T> {
    limit_bytes: u64,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    entries: HashMap<String, Entry<T>>,
    /// One lock per value that is being made.
    making: HashMap<String, Arc<Mutex<()>>>,
    bytes: u64,
    /// Counts uses, to tell which entry was used last.
    clock: u64,
}

#[derive(Debug)]
struct Entry<T> {
    value: Arc<T>,
    bytes: u64,
    used: u64,
}

impl<T> Resident<T> {
    pub(super) fn new(limit_bytes: u64) -> Resident<T> {
        let state = State { entries: HashMap::new(), making: HashMap::new(), bytes: 0, clock: 0 };
        Resident { limit_bytes, state: Mutex::new(state) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State<T>> {
        // Every change below is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &str) -> Option<Arc<T>> {
        let mut state = self.state();
        state.clock += 1;
        let used = state.clock;
        let entry = state.entries.get_mut(key)?;
        entry.used = used;
        Some(Arc::clone(&entry.value))
    }

    /// Keeps a value, and lets go of the least recently used ones beyond the limit; one larger than the limit
    /// is not kept.
    pub(super) fn put(&self, key: &str, value: Arc<T>, bytes: u64) {
        let mut state = self.state();
        state.remove(key);
        if bytes > self.limit_bytes {
            return;
        }
        while state.bytes > self.limit_bytes - bytes {
            let Some(oldest) =
                state.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone())
            else {
                break;
            };
            state.remove(&oldest);
        }
        state.clock += 1;
        let used = state.clock;
        state.bytes += bytes;
        state.entries.insert(key.to_owned(), Entry { value, bytes, used });
    }

    pub(super) fn remove(&self, key: &str) {
        self.state().remove(key);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.state().bytes
    }

    /// Whether nothing is being made.
    #[cfg(test)]
    pub(super) fn idle(&self) -> bool {
        self.state().making.is_empty()
    }

    /// The value of this key, made if it is not there; callers that ask at once wait for one of them to make it.
    pub(super) fn get_or_make<E>(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<(Arc<T>, u64), E>,
    ) -> Result<Arc<T>, E> {
        if let Some(value) = self.get(key) {
            return Ok(value);
        }
        let turn = Arc::clone(self.state().making.entry(key.to_owned()).or_default());
        let made = {
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            match self.get(key) {
                Some(value) => Ok(value),
                None => make().map(|(value, bytes)| {
                    self.put(key, Arc::clone(&value), bytes);
                    value
                }),
            }
        };
        // The last to leave: this clone and the one in the table.
        let mut state = self.state();
        if Arc::strong_count(&turn) <= 2 {
            state.making.remove(key);
        }
        made
    }
}

impl<T> State<T> {
    fn remove(&mut self, key: &str) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes;
        }
    }
}
