//! Samples made apart join to what they are together, and threads and instruction sets change nothing.

use isoframe_raster::accumulate::Accumulated;
use isoframe_raster::backend::{Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuOptions, InstructionSet};
use isoframe_raster::frame::{ColorFormat, FrameRequest, Output, Traced};
use isoframe_raster::prepared::Prepared;
use serde_json::json;

use crate::room::{Room, diffuse, from_above, lamp, metal, plastic, request, uniform, with_job};

/// Every kind of light, and surfaces of several kinds; part of a lamp is seen.
fn mixed() -> (Prepared, FrameRequest) {
    let mut room = Room::new();
    let (floor, shiny, blue) = (
        room.material(plastic([0.8, 0.5, 0.3], 0.4)),
        room.material(metal([0.9, 0.8, 0.6], 0.3)),
        room.material(diffuse([0.1, 0.2, 0.9])),
    );
    let mut glass = plastic([0.2, 0.9, 0.3], 0.5);
    glass["alphaMode"] = json!("BLEND");
    glass["pbrMetallicRoughness"]["baseColorFactor"] = json!([0.2, 0.9, 0.3, 0.4]);
    let (lamp, glass) = (room.material(lamp(4.0)), room.material(glass));
    room.floor(0.0, 2.0, floor);
    room.sphere([0.4, 0.4, 0.2], 0.4, shiny);
    room.sphere([-0.5, 0.3, -0.4], 0.3, blue);
    room.square([-0.9, 0.6, 0.9], [0.6, 0.0, 0.0], [0.0, 0.2, -0.7], lamp);
    room.square([-0.2, 0.9, 0.9], [0.9, 0.0, 0.0], [0.0, 0.1, -0.9], glass);
    room.light(json!({ "type": "point", "intensity": 2.0 }), json!({ "translation": [1.0, 1.5, 1.0] }));
    let traced = Traced { light_radius: 0.1, ..Traced::default() };
    let mut request = request(from_above([0.0, 3.0, 0.0], 1.0, 37), 37, traced);
    request.lighting.environment = Some(true);
    request.samples = 4;
    request.outputs = Output::all().collect();
    (room.prepared(), request)
}

#[test]
fn parts_are_the_whole() {
    let (scene, request) = mixed();
    with_job(&scene, &uniform(0.5), &request, |cpu, job| {
        let trace = |range| cpu.trace(job, range).expect("traced");
        for (count, cuts) in [(1, vec![]), (7, vec![3]), (64, vec![1, 40]), (96, vec![64]), (128, vec![64])] {
            let whole = trace(0..count);
            let mut joined = Accumulated::default();
            let ends = cuts.iter().copied().chain([count]);
            let mut first = 0;
            for end in ends {
                joined.append(trace(first..end));
                first = end;
            }
            assert!(whole.to_bytes() == joined.to_bytes(), "0..{count} cut at {cuts:?}");
            let back = Accumulated::from_bytes(&whole.to_bytes(), 37 * 37).expect("bytes of sums");
            let frames = [&whole, &back].map(|light| cpu.resolve(job, light).expect("resolved"));
            assert!(frames[0] == frames[1], "0..{count}");
        }
    });
}

#[test]
fn damaged_sums_are_refused() {
    let (scene, request) = mixed();
    let bytes = with_job(&scene, &uniform(0.5), &request, |cpu, job| {
        cpu.trace(job, 0..3).expect("traced").to_bytes()
    });
    let read = |bytes: &[u8]| Accumulated::from_bytes(bytes, 37 * 37);
    assert!(read(&bytes).is_some());
    assert!(read(&bytes[..bytes.len() - 1]).is_none());
    assert!(Accumulated::from_bytes(&bytes, 37 * 36).is_none());
    for (at, value) in [(0, 1u8), (4, 3), (11, 0xFF), (15, 0xFF)] {
        let mut damaged = bytes.clone();
        damaged[at] = value;
        assert!(read(&damaged).is_none(), "byte {at}");
    }
}

#[test]
fn threads_and_instruction_sets_change_nothing() {
    let (scene, request) = mixed();
    let environment = uniform(0.5);
    let cancel = Cancel::default();
    let job = Job {
        scene: &scene,
        environment: &environment,
        request: &request,
        color: ColorFormat::Linear,
        cancel: &cancel,
    };
    let mut first = None;
    for instruction_set in InstructionSet::available() {
        for (threads, denormals_flushed) in [(1, false), (2, true), (7, false)] {
            let options = CpuOptions { threads, instruction_set, denormals_flushed, ..CpuOptions::default() };
            let frame = Cpu::new(options).expect("threads").render(&job).expect("rendered");
            let first = first.get_or_insert_with(|| frame.clone());
            assert!(*first == frame, "{instruction_set:?}, {threads} threads");
        }
    }
}

/// The stored parts make the picture, bit for bit, where one triangle covers a pixel and nothing is in front.
#[test]
fn irradiance_reflectance_and_emission_explain_the_picture() {
    let (scene, mut request) = mixed();
    request.samples = 1;
    let frame = crate::room::render(&scene, &uniform(0.5), &request);
    let get = |k: usize| {
        let light = frame.irradiance.as_ref().expect("asked for")[k];
        let reflectance = frame.reflectance.as_ref().expect("asked for")[k];
        let emission = frame.emission.as_ref().expect("asked for")[k];
        std::array::from_fn(|c| (emission[c] + light[c] * reflectance[c]) + light[c + 3] * reflectance[c + 3])
    };
    let base = frame.base.as_ref().expect("asked for");
    let mut checked = 0;
    for k in 0..37 * 37 {
        let [x, y] = [k % 37, k / 37].map(|v| (v as f64 + 0.5) / 37.0 * 2.0 - 1.0);
        // Not under the glass.
        if (-0.25..0.75).contains(&x) && (-0.05..0.95).contains(&y) {
            continue;
        }
        let want: [f32; 3] = get(k);
        assert_eq!(
            base[k][..3].iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
            want.map(f32::to_bits),
            "{k}"
        );
        checked += 1;
    }
    assert!(checked > 500, "{checked}");
    assert!(frame.variance.as_ref().expect("asked for").iter().any(|v| v[0] > 0.0));
    assert!(frame.hit_distance.as_ref().expect("asked for").iter().any(|&v| v > 0.0 && v < 65504.0));
}
