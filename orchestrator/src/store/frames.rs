//! The frame cache: finished files on disk, named by what they show, up to a number of bytes.
//!
//! An entry is one file: a line of JSON that says what it is, then the frame's file. It is checked against
//! its hash whenever it is read, so a damaged entry is a miss, never an answer. Entries lie in a folder per
//! scene, so that they can go with it.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::assets::files_below;
use super::{ByteLru, Intake, StoreError};

/// Files up to this size are answered from memory; larger ones are checked first, then streamed.
const IN_MEMORY_BYTES: u64 = 1 << 20;

/// Longest line that describes an entry.
const META_BYTES: u64 = 64 * 1024;

/// What an answer needs to know about a frame's file beside its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameMeta {
    /// Scene it shows.
    pub scene: String,
    /// Strong ETag, with its quotes.
    pub etag: String,
    /// Media type.
    pub content_type: String,
    /// Names the plan.
    pub plan_id: String,
    /// Names what was rendered.
    pub frame_id: String,
    /// How it was made.
    pub path: String,
    /// Model that blended it, or `none`.
    pub model: String,
    /// Hash of the pixels.
    pub pixels: String,
    /// What rendered it.
    pub backend: String,
    /// Engine that rendered it.
    pub engine: String,
    /// SHA-256 of the file, base64.
    pub sha256: String,
    /// Size of the file.
    pub bytes: u64,
}

/// A frame's file out of the cache.
#[derive(Debug)]
pub struct CachedFrame {
    /// What it is.
    pub meta: FrameMeta,
    /// The file.
    pub body: CachedBody,
}

/// The bytes of a cached file.
#[derive(Debug)]
pub enum CachedBody {
    /// All of them.
    Memory(Bytes),
    /// The rest of an open file.
    File(File),
}

/// The cache.
#[derive(Debug)]
pub struct FrameCache {
    folder: PathBuf,
    incoming: PathBuf,
    enabled: bool,
    sizes: Mutex<ByteLru<()>>,
}

impl FrameCache {
    pub(super) fn open(
        folder: PathBuf,
        incoming: PathBuf,
        limit_bytes: u64,
    ) -> Result<FrameCache, StoreError> {
        let mut sizes = ByteLru::new(limit_bytes);
        let mut found: Vec<_> = files_below(&folder)
            .into_iter()
            .filter_map(|path| {
                let about = path.metadata().ok()?;
                Some((about.modified().ok()?, path, about.len()))
            })
            .collect();
        found.sort();
        for (_, path, bytes) in found {
            let Some(key) = path.strip_prefix(&folder).ok().and_then(|key| key.to_str()) else { continue };
            for (gone, ()) in sizes.insert(key.replace('\\', "/"), (), bytes) {
                let _ = fs::remove_file(folder.join(gone));
            }
        }
        Ok(FrameCache { folder, incoming, enabled: limit_bytes > 0, sizes: Mutex::new(sizes) })
    }

    /// Whether anything is ever kept.
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    /// Bytes and files kept.
    pub fn size(&self) -> (u64, usize) {
        let sizes = self.sizes();
        (sizes.bytes(), sizes.len())
    }

    /// Whether a frame is kept, without reading it.
    pub fn contains(&self, scene: &str, etag: &str) -> bool {
        self.sizes().contains(&key(scene, etag))
    }

    /// A kept frame, checked. *Errors*: none; what cannot be read is forgotten and missing.
    pub fn get(&self, scene: &str, etag: &str) -> Option<CachedFrame> {
        let key = key(scene, etag);
        self.sizes().get(&key)?;
        match self.read(&key) {
            Ok(Some(frame)) => return Some(frame).filter(|frame| frame.meta.etag == etag),
            // Out of file handles or memory: the entry may be sound.
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {
                tracing::warn!(key, %error, "a cached frame cannot be read now");
            }
            Ok(None) | Err(_) => {
                tracing::warn!(key, "a cached frame is damaged or missing; it is forgotten");
                self.forget(&key);
            }
        }
        None
    }

    /// What is known about a kept frame; its bytes are not checked.
    pub fn meta(&self, scene: &str, etag: &str) -> Option<FrameMeta> {
        let key = key(scene, etag);
        self.sizes().get(&key)?;
        let mut reader = BufReader::new(File::open(self.path(&key)).ok()?);
        let (meta, _) = read_meta(&mut reader).ok()??;
        Some(meta).filter(|meta| meta.etag == etag)
    }

    /// Keeps a frame's file, if the cache is on and it fits.
    pub fn put(&self, meta: &FrameMeta, file: &[u8]) -> Result<(), StoreError> {
        if !self.enabled {
            return Ok(());
        }
        let key = key(&meta.scene, &meta.etag);
        let mut line = serde_json::to_vec(meta).map_err(|error| StoreError::Row(error.to_string()))?;
        line.push(b'\n');
        let mut intake = Intake::new(&self.incoming)?;
        intake.write(&line)?;
        intake.write(file)?;
        let bytes = intake.bytes();
        // A frame can be made again: it need not reach the disk before it is answered.
        intake.place_unsynced(&self.path(&key))?;
        let gone = self.sizes().insert(key, (), bytes);
        for (gone, ()) in gone {
            let _ = fs::remove_file(self.path(&gone));
        }
        Ok(())
    }

    /// None: it is damaged. *Errors*: the system's, of which those that name no damage may pass.
    fn read(&self, key: &str) -> io::Result<Option<CachedFrame>> {
        let mut reader = BufReader::new(File::open(self.path(key))?);
        let Some((meta, start)) = read_meta(&mut reader)? else { return Ok(None) };
        let mut hasher = Sha256::new();
        let (body, bytes) = if meta.bytes <= IN_MEMORY_BYTES {
            let mut all = Vec::with_capacity(meta.bytes as usize);
            reader.take(IN_MEMORY_BYTES + 1).read_to_end(&mut all)?;
            hasher.update(&all);
            let bytes = all.len() as u64;
            (CachedBody::Memory(all.into()), bytes)
        } else {
            let bytes = hash_rest(&mut reader, &mut hasher)?;
            let mut file = reader.into_inner();
            file.seek(SeekFrom::Start(start))?;
            (CachedBody::File(file), bytes)
        };
        let whole = bytes == meta.bytes && base64_of(&hasher.finalize()) == meta.sha256;
        Ok(whole.then_some(CachedFrame { meta, body }))
    }

    fn forget(&self, key: &str) {
        self.sizes().remove(key);
        let _ = fs::remove_file(self.path(key));
    }

    /// Removes all frames of a scene.
    pub fn forget_scene(&self, scene: &str) {
        let prefix = format!("{scene}/");
        let mut sizes = self.sizes();
        let keys: Vec<_> = sizes.keys().filter(|key| key.starts_with(&prefix)).cloned().collect();
        for key in keys {
            sizes.remove(&key);
        }
        drop(sizes);
        let _ = fs::remove_dir_all(self.folder.join(scene));
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(key)
    }

    fn sizes(&self) -> MutexGuard<'_, ByteLru<()>> {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The line that describes an entry, and where the file after it begins; none if it is damaged.
fn read_meta(reader: &mut impl BufRead) -> io::Result<Option<(FrameMeta, u64)>> {
    let mut line = String::new();
    let start = reader.take(META_BYTES).read_line(&mut line)? as u64;
    Ok(serde_json::from_str(&line).ok().map(|meta| (meta, start)))
}

fn hash_rest(reader: &mut impl Read, hasher: &mut Sha256) -> io::Result<u64> {
    let mut chunk = vec![0; 256 * 1024];
    let mut bytes = 0;
    loop {
        match reader.read(&mut chunk)? {
            0 => return Ok(bytes),
            read => {
                hasher.update(&chunk[..read]);
                bytes += read as u64;
            }
        }
    }
}

/// SHA-256 of a file, base64: as `Repr-Digest` has it.
pub(crate) fn sha256_base64(file: &[u8]) -> String {
    base64_of(&Sha256::digest(file))
}

/// Bytes as base64.
pub(crate) fn base64_of(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// An ETag is a hash of frame id, output, format and encoder in quotes: its digits name the file.
fn key(scene: &str, etag: &str) -> String {
    let digits: String = etag.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{scene}/{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(etag: &str, file: &[u8]) -> FrameMeta {
        FrameMeta {
            scene: "scene1".into(),
            etag: format!("\"{etag}\""),
            content_type: "image/png".into(),
            plan_id: "p".into(),
            frame_id: "f".into(),
            path: "raster".into(),
            model: "none".into(),
            pixels: "x".into(),
            backend: "cpu".into(),
            engine: "e".into(),
            sha256: sha256_base64(file),
            bytes: file.len() as u64,
        }
    }

    fn open(root: &std::path::Path, limit_bytes: u64) -> FrameCache {
        fs::create_dir_all(root.join("incoming")).expect("made");
        FrameCache::open(root.join("frames"), root.join("incoming"), limit_bytes).expect("opens")
    }

    fn bytes(frame: CachedFrame) -> Vec<u8> {
        match frame.body {
            CachedBody::Memory(bytes) => bytes.to_vec(),
            CachedBody::File(mut file) => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).expect("reads");
                bytes
            }
        }
    }

    #[test]
    fn frames_come_back_whole_small_and_large_and_after_a_restart() {
        let root = tempfile::tempdir().expect("a folder");
        let small = b"small file".to_vec();
        let large: Vec<u8> = (0..IN_MEMORY_BYTES as u32 / 4 + 1000).flat_map(u32::to_le_bytes).collect();
        let cache = open(root.path(), 1 << 30);
        for (etag, file) in [("aaaaaaaa1", &small), ("bbbbbbbb2", &large)] {
            let meta = meta(etag, file);
            cache.put(&meta, file).expect("kept");
            assert_eq!(cache.meta("scene1", &meta.etag).as_ref(), Some(&meta));
        }
        for cache in [cache, open(root.path(), 1 << 30)] {
            assert_eq!(cache.size().1, 2);
            for (etag, file) in [("\"aaaaaaaa1\"", &small), ("\"bbbbbbbb2\"", &large)] {
                let frame = cache.get("scene1", etag).expect("kept");
                assert_eq!(frame.meta.etag, etag);
                assert!(bytes(frame) == *file);
            }
            assert!(cache.get("scene1", "\"cccccccc3\"").is_none());
        }
    }

    #[test]
    fn a_damaged_entry_is_a_miss_and_goes() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = open(root.path(), 1 << 20);
        for (etag, damage) in [("aaaaaaaa1", 0), ("bbbbbbbb2", 1), ("cccccccc3", 2), ("dddddddd4", 3)] {
            let meta = meta(etag, b"these are pixels");
            cache.put(&meta, b"these are pixels").expect("kept");
            let path = cache.path(&format!("scene1/{etag}"));
            let mut whole = fs::read(&path).expect("there");
            match damage {
                0 => *whole.last_mut().expect("not empty") ^= 1,
                1 => whole.truncate(whole.len() - 1),
                2 => whole.push(b'!'),
                _ => whole[0] = b'?',
            }
            fs::write(&path, whole).expect("damaged");
            assert!(cache.get("scene1", &meta.etag).is_none(), "damage {damage}");
            assert!(!path.exists() && !cache.contains("scene1", &meta.etag), "damage {damage}");
        }
    }

    #[test]
    fn the_cache_stays_below_its_limit_on_disk() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = open(root.path(), 5000);
        let file = vec![7; 1000];
        for index in 0..20 {
            cache.put(&meta(&format!("{index:08}x"), &file), &file).expect("kept");
        }
        let on_disk: u64 = files_below(&root.path().join("frames"))
            .iter()
            .map(|path| path.metadata().expect("there").len())
            .sum();
        assert!(on_disk <= 5000, "{on_disk} bytes");
        assert_eq!(on_disk, cache.size().0);
        assert!(cache.contains("scene1", "\"00000019x\"") && !cache.contains("scene1", "\"00000000x\""));
        cache.forget_scene("scene");
        assert_eq!(cache.size().0, on_disk, "another scene's name may begin alike");
        // A smaller limit at the next start applies at once.
        let smaller = open(root.path(), 2600);
        assert_eq!(smaller.size().1, 2, "entries are 1000 bytes and what describes them");
        smaller.forget_scene("scene1");
        assert_eq!(smaller.size(), (0, 0));
        assert!(files_below(&root.path().join("frames")).is_empty());
        assert!(open(root.path(), 0).size() == (0, 0));
    }
}
