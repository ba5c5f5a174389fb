//! Values kept up to a number of bytes, the least recently used leaving first.

use lru::LruCache;

/// Values of known size by name, bounded by the sum of their sizes.
#[derive(Debug)]
pub struct ByteLru<V> {
    entries: LruCache<String, (V, u64)>,
    bytes: u64,
    limit_bytes: u64,
}

impl<V> ByteLru<V> {
    /// Empty, for `limit_bytes`.
    pub fn new(limit_bytes: u64) -> ByteLru<V> {
        ByteLru { entries: LruCache::unbounded(), bytes: 0, limit_bytes }
    }

    /// The value, now the most recently used.
    pub fn get(&mut self, key: &str) -> Option<&V> {
        self.entries.get(key).map(|(value, _)| value)
    }

    /// Whether it is here, without using it.
    pub fn contains(&self, key: &str) -> bool {
        self.entries.contains(key)
    }

    /// Keeps a value; what had to leave for it is returned. One larger than the limit leaves at once itself.
    pub fn insert(&mut self, key: String, value: V, bytes: u64) -> Vec<(String, V)> {
        let mut gone = Vec::new();
        if bytes > self.limit_bytes {
            gone.extend(self.remove(&key).map(|old| (key.clone(), old)));
            gone.push((key, value));
            return gone;
        }
        if let Some((_, old_bytes)) = self.entries.put(key, (value, bytes)) {
            self.bytes -= old_bytes;
        }
        self.bytes += bytes;
        while self.bytes > self.limit_bytes
            && let Some((key, (value, bytes))) = self.entries.pop_lru()
        {
            self.bytes -= bytes;
            gone.push((key, value));
        }
        gone
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let (value, bytes) = self.entries.pop(key)?;
        self.bytes -= bytes;
        Some(value)
    }

    /// Names kept, most recently used first.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.entries.iter().map(|(key, _)| key)
    }

    /// Sum of the sizes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(gone: Vec<(String, u32)>) -> Vec<String> {
        gone.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn the_least_recently_used_leaves_and_bytes_stay_bounded() {
        let mut kept = ByteLru::new(10);
        assert!(kept.insert("a".into(), 1, 4).is_empty());
        assert!(kept.insert("b".into(), 2, 4).is_empty());
        assert_eq!(kept.get("a"), Some(&1));
        assert_eq!(names(kept.insert("c".into(), 3, 4)), ["b"]);
        assert_eq!((kept.bytes(), kept.len()), (8, 2));
        // Replacing counts the new size only; too large a value never displaces the others.
        assert!(kept.insert("a".into(), 9, 6).is_empty());
        assert_eq!(kept.bytes(), 10);
        assert_eq!(names(kept.insert("huge".into(), 4, 11)), ["huge"]);
        assert_eq!((kept.bytes(), kept.len()), (10, 2));
        assert_eq!(kept.remove("a"), Some(9));
        assert_eq!(kept.bytes(), 4);
    }

    #[test]
    fn a_limit_of_zero_keeps_nothing() {
        let mut kept = ByteLru::new(0);
        assert_eq!(names(kept.insert("a".into(), 1, 1)), ["a"]);
        assert!(kept.is_empty());
    }
}
