//! The metallic-roughness base, with index of refraction and specular.

use isoframe_raster::environment::integrate_dfg;
use isoframe_raster::passes::bsdf::{Bsdf, Parameters};
use isoframe_raster::passes::vector::Vector;

use crate::common::{COSINES, ROUGHNESSES, array, check, evaluated, tables, vector};
use crate::quadrature::{Direction, dot, integrate, unit, viewer};

/// Shares of uniform light by the formulae as the papers print them, in f64, albedos integrated anew.
fn reference(p: &Parameters, view: Direction) -> [Direction; 2] {
    let roughness = f64::from(p.roughness.max(0.045));
    let (metallic, specular) = (f64::from(p.metallic), f64::from(p.specular));
    let alpha2 = roughness.powi(4);
    let [scale, bias] = integrate_dfg(view[2], roughness);
    let ratio = (f64::from(p.ior) - 1.0) / (f64::from(p.ior) + 1.0);
    let channel = |k: usize| {
        let base = array(p.base)[k];
        let dielectric = (ratio * ratio * array(p.specular_color)[k]).min(1.0) * specular;
        let f0 = dielectric * (1.0 - metallic) + base * metallic;
        let f90 = specular * (1.0 - metallic) + metallic;
        let single = f0 * scale + f90 * bias;
        let missing = 1.0 - scale - bias;
        let average = f0 + (f90 - f0) / 21.0;
        let multiple = single * average * missing / (1.0 - missing * average);
        (f0, f90, multiple, (1.0 - single - multiple) * base * (1.0 - metallic))
    };
    let channels = [channel(0), channel(1), channel(2)];
    let lambda = |cos: f64| ((1.0 + alpha2 * (1.0 / (cos * cos) - 1.0)).sqrt() - 1.0) / 2.0;
    let reflected = integrate(view, &[alpha2.sqrt()], 160, false, |light| {
        let half = unit([0, 1, 2].map(|k| light[k] + view[k]));
        let q = half[2] * half[2] * (alpha2 - 1.0) + 1.0;
        let d = alpha2 / (std::f64::consts::PI * q * q);
        let g = 1.0 / (1.0 + lambda(view[2]) + lambda(light[2]));
        let grazing = (1.0 - dot(view, half)).powi(5);
        channels.map(|(f0, f90, ..)| (f0 + (f90 - f0) * grazing) * d * g / (4.0 * view[2]))
    });
    [channels.map(|c| c.3), [0, 1, 2].map(|k| reflected[k] + channels[k].2)]
}

fn agree(p: &Parameters, cosine: f64) {
    let found = check(p, cosine, 0.1);
    let [diffuse, specular] = reference(p, viewer(cosine, 0.1));
    for c in 0..3 {
        let off = [found.diffuse[c] - diffuse[c], found.specular[c] - specular[c]];
        assert!(off.iter().all(|o| o.abs() < 0.005), "{off:?} off at n·v {cosine}, {p:?}");
    }
}

#[test]
fn white_surfaces_give_back_all_light() {
    for roughness in ROUGHNESSES {
        for metallic in [0.0, 1.0] {
            for cosine in COSINES {
                let p = Parameters { roughness, metallic, ..Parameters::default() };
                agree(&p, cosine);
                for total in evaluated(&p, viewer(cosine, 0.1), 160).total() {
                    assert!((total - 1.0).abs() < 0.005, "{total} at n·v {cosine}, {p:?}");
                }
            }
        }
    }
}

#[test]
fn coloured_surfaces_follow_the_formulae() {
    for roughness in [0.15, 0.6] {
        for (metallic, ior, specular) in [(0.0, 1.5, 1.0), (0.5, 2.4, 1.0), (1.0, 1.5, 1.0), (0.2, 1.3, 0.4)]
        {
            for cosine in [0.1, 0.6] {
                let p = Parameters {
                    base: Vector::new([0.8, 0.3, 0.0]),
                    specular_color: Vector::new([1.0, 0.5, 20.0]),
                    roughness,
                    metallic,
                    ior,
                    specular,
                    ..Parameters::default()
                };
                agree(&p, cosine);
            }
        }
    }
}

#[test]
fn an_index_of_zero_is_a_mirror() {
    let p = Parameters { ior: 0.0, roughness: 0.3, base: Vector::splat(0.5), ..Parameters::default() };
    let found = check(&p, 0.7, 0.0);
    assert!(found.diffuse[0] < 1e-3 && (found.specular[0] - 1.0).abs() < 0.005, "{found:?}");
}

#[test]
fn reflectance_is_what_the_specular_lobes_reflect() {
    for roughness in ROUGHNESSES {
        for cosine in COSINES {
            let p = Parameters {
                roughness,
                base: Vector::new([0.9, 0.5, 0.1]),
                metallic: 0.7,
                ..Default::default()
            };
            let view = viewer(cosine, 0.3);
            let estimate = array(Bsdf::new(&p, vector(view), &tables()).specular_reflectance());
            let found = evaluated(&p, view, 160).specular;
            for c in 0..3 {
                assert!((estimate[c] - found[c]).abs() < 0.005, "{estimate:?} {found:?} {p:?}");
            }
        }
    }
    let black = Parameters { specular: 0.0, ..Parameters::default() };
    let bsdf = Bsdf::new(&black, vector(viewer(0.5, 0.0)), &tables());
    assert_eq!(bsdf.specular_reflectance(), Vector::splat(1.0 / 1024.0));
}

#[test]
fn nothing_comes_from_a_black_surface_or_from_below() {
    let black = Parameters { specular: 0.0, base: Vector::splat(0.0), ..Parameters::default() };
    let bsdf = Bsdf::new(&black, vector(viewer(0.5, 0.0)), &tables());
    assert_eq!(bsdf.sample([0.3, 0.4, 0.5]), None);
    let bsdf = Bsdf::new(&Parameters::default(), vector(viewer(0.5, 0.0)), &tables());
    assert_eq!(bsdf.evaluate(Vector::new([0.6, 0.0, -0.8])), Default::default());
}

#[test]
fn a_viewer_below_the_shading_normal_still_sees_finite_light() {
    for z in [-0.3, -1e-3, 0.0, 1e-5] {
        for roughness in ROUGHNESSES {
            let p = Parameters { roughness, metallic: 0.5, ..Parameters::default() };
            let bsdf = Bsdf::new(&p, vector(unit([1.0, 0.2, z])), &tables());
            for k in 0..2000u32 {
                let u = [0, 1, 2].map(|d| crate::common::random(k * 3 + d));
                let Some(sample) = bsdf.sample(u) else { continue };
                let s = sample.scattered;
                let weight = s.specular.scale(1.0 / s.pdf);
                assert!(weight.array().iter().all(|w| (0.0..=25.0).contains(w)), "{z} {p:?} {sample:?}");
            }
        }
    }
}

/// The same surface, turned: frames must not show.
#[test]
fn no_direction_of_the_world_is_preferred() {
    let axes = [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.6, 0.0, -0.8], [0.48, -0.64, 0.6], [1.0, 0.0, 0.0]];
    for normal in axes {
        // A tangent along the normal says nothing: any frame will do.
        for tangent in [[0.0, 1.0, 0.0], normal] {
            let p = Parameters {
                normal: vector(normal),
                tangent: vector(tangent),
                roughness: 0.4,
                metallic: 1.0,
                ..Parameters::default()
            };
            let view = unit([normal[0] + 0.3, normal[1] - 0.2, normal[2] + 0.1]);
            let sampling = crate::common::sampled(&p, view, 40_000, 9);
            for c in 0..3 {
                assert!(
                    (sampling.mean.total()[c] - 1.0).abs() < 4.5 * sampling.error[c] + 2e-3,
                    "{normal:?}"
                );
            }
        }
    }
}
