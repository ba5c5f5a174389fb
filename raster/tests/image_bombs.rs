//! CASES B40: what is small and claims to be large is refused, or read in bounded memory.

#[path = "common/bombs.rs"]
#[allow(dead_code)]
mod bombs;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bombs::{AFTER_HEADER, GIGABYTE_OF_MATCHES, chunk, jpeg_of_header, png, png_with_gigabyte, zlib_zeros};
use isoframe_raster::environment::{EnvironmentLimits, Panorama};
use isoframe_raster::image::{PixelBudget, decode, probe};

/// Counts what is held and the most that was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator unchanged; the counters touch no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.dealloc(at, layout) }
    }
}

fn grow(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(held, Ordering::Relaxed);
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One at a time: the counters are the process's.
static TURN: Mutex<()> = Mutex::new(());

/// Runs, and gives back the most bytes held above what was held before.
fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let out = run();
    (out, PEAK.load(Ordering::Relaxed).saturating_sub(before))
}

/// CASES B40 asks for less than 64 MB.
const BOUND_BYTES: usize = 64 << 20;

#[test]
fn headers_that_claim_too_much_are_refused_at_once() {
    let _turn = TURN.lock().unwrap();
    let jpeg = jpeg_of_header(65_500, 65_500);
    assert_eq!(probe(&jpeg).unwrap(), (65500, 65500));
    let vp8l = |width: u32, height: u32| {
        let bits = (width - 1) | (height - 1) << 14;
        let mut out = b"RIFF\x16\0\0\0WEBPVP8L\x0a\0\0\0\x2f".to_vec();
        out.extend(bits.to_le_bytes());
        out.extend([0; 5]);
        out
    };
    let cases = [
        ("PNG 50000 x 50000", png(50_000, 50_000, &[0; 8]), "image_side"),
        ("PNG 16384 x 16384", png(16_384, 16_384, &[0; 8]), "image_side"),
        ("PNG 2^31 - 1 square", png(i32::MAX as u32, i32::MAX as u32, &[0; 8]), "image_side"),
        ("JPEG 65500 x 65500", jpeg, "image_side"),
        ("WebP 16384 x 16384", vp8l(16_384, 16_384), "image_side"),
    ];
    for (name, bytes, code) in cases {
        let (refused, held) = peak(|| decode(&bytes, None, &mut PixelBudget::default()).unwrap_err());
        assert_eq!(refused.code(), code, "{name}: {refused}");
        assert!(held < 1 << 20, "{name}: {held} bytes held");
    }
}

#[test]
fn compressed_chunks_are_not_inflated() {
    let _turn = TURN.lock().unwrap();
    for (kind, prefix) in
        [(b"zTXt", &b"k\0\0"[..]), (b"iTXt", &b"k\0\x01\0\0\0"[..]), (b"iCCP", &b"p\0\0"[..])]
    {
        let bytes = png_with_gigabyte(kind, prefix);
        let (image, held) = peak(|| decode(&bytes, None, &mut PixelBudget::default()).unwrap());
        let reds: Vec<u8> = image.rgba.iter().map(|texel| texel[0]).collect();
        assert_eq!(reds, [10, 20, 30, 40]);
        assert!(held < BOUND_BYTES, "{kind:?}: {held} bytes held");
    }
}

#[test]
fn pixels_beyond_the_header_are_not_kept() {
    let _turn = TURN.lock().unwrap();
    let gigabyte = zlib_zeros(GIGABYTE_OF_MATCHES);
    let mut bytes = png(4, 4, &[]);
    bytes.truncate(AFTER_HEADER);
    chunk(&mut bytes, b"IDAT", &gigabyte);
    chunk(&mut bytes, b"IEND", &[]);
    // Readable or refused, but small either way.
    let (_, held) = peak(|| decode(&bytes, None, &mut PixelBudget::default()));
    assert!(held < BOUND_BYTES, "{held} bytes held");
}

#[test]
fn a_canvas_cannot_hide_larger_pixels() {
    let _turn = TURN.lock().unwrap();
    // VP8X says 1 x 1; the frame inside says 16383 x 16383.
    let mut body = b"WEBPVP8X\x0a\0\0\0".to_vec();
    body.extend([0; 10]);
    body.extend(b"VP8 \x10\0\0\0");
    body.extend([0x10, 0, 0, 0x9d, 0x01, 0x2a, 0xff, 0x3f, 0xff, 0x3f, 0, 0, 0, 0, 0, 0]);
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(body);
    let (refused, held) = peak(|| decode(&bytes, None, &mut PixelBudget::default()).unwrap_err());
    assert_eq!(refused.code(), "image_damaged");
    assert!(held < 1 << 20, "{held} bytes held");
}

#[test]
fn a_thousand_textures_are_refused_before_the_first() {
    let _turn = TURN.lock().unwrap();
    let header = png(4096, 4096, &[0; 8]);
    let (refused, held) = peak(|| {
        let mut budget = PixelBudget::default();
        (0..1000).find_map(|_| {
            let (width, height) = probe(&header).unwrap();
            budget.take(width, height).err()
        })
    });
    assert_eq!(refused.unwrap().code(), "image_budget");
    assert!(held < 1 << 20, "{held} bytes held");
}

#[test]
fn environments_that_claim_too_much_are_refused_at_once() {
    let _turn = TURN.lock().unwrap();
    let hdr =
        |line: &str| format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n{line}\n\x02\x02\x20\0").into_bytes();
    let cases = [
        (hdr("-Y 32768 +X 65536"), "environment_size"),
        (hdr("-Y 4294967295 +X 4294967295"), "environment_shape"),
        (hdr("-Y 99999999999 +X 199999999998"), "environment_damaged"),
        // Within the limits, but there is no data for it.
        (hdr("-Y 4096 +X 8192"), "environment_damaged"),
        ([hdr("-Y 4 +X 8"), vec![b'#'; 100]].concat(), "environment_damaged"),
    ];
    for (bytes, code) in cases {
        let (refused, held) =
            peak(|| Panorama::from_bytes(&bytes, &EnvironmentLimits::default()).unwrap_err());
        assert_eq!(refused.code(), code, "{refused}");
        assert!(held < 1 << 20, "{refused}: {held} bytes held");
    }
}
