//! Memory of the service over many requests, and after big ones.

use crate::alone;
use crate::client::{self, Request};
use crate::fixtures::triangle;
use crate::process_memory::{SLOPE_BYTES, slope_bytes};
use crate::served;

/// Frames before memory is watched.
const WARM_UP_FRAMES: usize = 500;

#[test]
fn memory_does_not_grow_over_many_requests() {
    memory_does_not_grow(3000);
}

#[test]
#[ignore = "minutes: all the frames of CASES B32"]
fn memory_does_not_grow_over_ten_thousand_requests() {
    memory_does_not_grow(10_000);
}

/// CASES B32: so many frames of two scenes and sizes, with 500 failing requests among them.
fn memory_does_not_grow(frames: usize) {
    let _alone = alone();
    // Nothing is kept, so that each request is a frame.
    let server = served::start(&[("cache.frame_bytes", "0")]);
    let scenes = [1, 2].map(|variety| server.upload(triangle(variety).to_string().as_bytes()));
    let mut samples = Vec::new();
    let mut failed = 0;
    let mut connection = client::connect(server.address);
    for k in 0..WARM_UP_FRAMES + frames {
        let size = if k % 4 < 2 { "256x256" } else { "200x256" };
        let path = format!("/v1/scenes/{}/frame.png?size={size}", scenes[k % 2]);
        // Of two, one is on a connection that stays and one on its own.
        let get = Request::new("GET", &path);
        if k % 2 == 0 {
            client::send_on(&mut connection, &get).expect("answered").expect(200);
        } else {
            server.send(get).expect(200);
        }
        if k % (frames / 300) == 0 {
            server.get(&format!("{path}&variant=none")).expect(422);
            server.send(Request::new("POST", "/v1/scenes").body("not a scene")).expect(422);
            failed += 2;
        }
        if k >= WARM_UP_FRAMES && k % 50 == 0 {
            let Some(bytes) = server.resident_bytes() else { return };
            samples.push((k, bytes));
        }
    }
    assert!(failed >= 500, "{failed} failing requests");
    let slope = slope_bytes(&samples);
    eprintln!("{frames} frames, {slope:.0} bytes more in 1000");
    assert!(slope < SLOPE_BYTES, "{slope:.0} bytes more in 1000 frames: {samples:?}");
}

/// CASES R10: memory of a big frame falls again, and there may be another.
#[test]
fn a_big_frame_is_given_back() {
    /// What an allocator may keep of a frame that is gone.
    const SLACK_BYTES: u64 = 32 << 20;
    let _alone = alone();
    let server = served::start(&[("cache.frame_bytes", "0"), ("render.spare_frame_bytes", "1048576")]);
    let scene = server.upload(triangle(1).to_string().as_bytes());
    let frame = |side: u32| {
        let path = format!(
            "/v1/scenes/{scene}/frame.exr?size={side}x{side}&output=color,base,depth,motion,normal,albedo,id"
        );
        server.get(&path).expect(200);
    };
    let small = || (0..20).for_each(|_| frame(64));
    small();
    let Some(before) = server.resident_bytes() else { return };
    for _ in 0..3 {
        let ((), growth) = server.peak_growth(|| frame(2048));
        let growth = growth.expect("told before");
        assert!(growth > 128 << 20, "a big frame took {growth} bytes");
        small();
        let stays = server.resident_bytes().expect("told before").saturating_sub(before);
        eprintln!("a big frame took {growth} bytes, {stays} stay");
        assert!(stays < SLACK_BYTES, "{stays} bytes of a big frame stay");
    }
}
