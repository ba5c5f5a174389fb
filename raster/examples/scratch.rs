use isoframe_raster::{
    backend::*,
    cpu::*,
    environment::*,
    frame::*,
    prepared::Prepared,
    scene::{self, Limits, Source},
};
use std::sync::Arc;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let limits = Limits::default();
    let t = Instant::now();
    let s =
        scene::load(&Source::from_path(std::path::Path::new(&args[1]), &limits).unwrap(), &limits).unwrap();
    eprintln!("load {:?} notes {:?}", t.elapsed(), s.notes);
    let t = Instant::now();
    let p = Prepared::new(Arc::new(s));
    eprintln!(
        "prepare {:?} vertices {} indices {} texels {}",
        t.elapsed(),
        p.vertices.len(),
        p.indices.len(),
        p.texels.len()
    );
    let mut spec = Vec::new();
    for l in 0..LEVELS {
        let side = OCTAHEDRAL_SIDE >> l;
        for y in 0..side {
            for x in 0..side {
                let (fx, fy) =
                    ((x as f32 + 0.5) / side as f32 * 2.0 - 1.0, (y as f32 + 0.5) / side as f32 * 2.0 - 1.0);
                let up = 1.0 - fx.abs() - fy.abs();
                let b = 0.5
                    + 0.5 * up
                    + if (fx - 0.3).abs() < 0.15 && (fy - 0.3).abs() < 0.15 { 3.0 } else { 0.0 };
                spec.push([b, b, b, 0.0]);
            }
        }
    }
    let mut sh = [[0.0; 4]; 9];
    sh[0] = [0.8, 0.8, 0.8, 0.0];
    sh[1] = [0.3, 0.3, 0.3, 0.0];
    let env = Environment {
        hash: "x".into(),
        background: spec[..(256 * 256)].to_vec(),
        background_side: 256,
        specular: spec,
        irradiance_sh: sh,
    };
    let cpu =
        Cpu::new(CpuOptions { threads: args.get(3).map_or(0, |a| a.parse().unwrap()), ..Default::default() })
            .unwrap();
    let samples = args.get(4).map_or(4, |a| a.parse().unwrap());
    let all = args.get(5).is_some();
    let r = FrameRequest {
        samples,
        outputs: if all { Output::ALL.to_vec() } else { vec![Output::Color] },
        background: Background::Srgb([200, 205, 210]),
        ..Default::default()
    };
    let c = Cancel::default();
    let job = Job { scene: &p, environment: &env, request: &r, color: ColorFormat::Srgb8, cancel: &c };
    let mut best = f64::MAX;
    let mut f = cpu.render(&job).unwrap();
    for _ in 0..15 {
        let t = Instant::now();
        f = cpu.render(&job).unwrap();
        best = best.min(t.elapsed().as_secs_f64());
    }
    eprintln!("best {:.2} ms", best * 1e3);
    let Some(Color::Srgb8(px)) = f.color else { panic!() };
    let bytes: Vec<u8> = px.into_iter().flatten().collect();
    image::save_buffer(&args[2], &bytes, f.width, f.height, image::ColorType::Rgba8).unwrap();
    if let Some(n) = f.normal {
        let b: Vec<u8> = n.iter().flat_map(|v| v.map(|x| (x * 127.0 + 128.0) as u8)).collect();
        image::save_buffer(format!("{}.n.png", args[2]), &b, f.width, f.height, image::ColorType::Rgb8)
            .unwrap();
    }
}
