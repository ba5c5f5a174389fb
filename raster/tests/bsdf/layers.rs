//! Layers over the base: clear coat, sheen, a thin film; and facets that are stretched.

use isoframe_raster::environment::{DFG_SIDE, integrate_dfg, integrate_sheen, sheen_table};
use isoframe_raster::passes::bsdf::{Bsdf, Parameters};
use isoframe_raster::passes::vector::Vector;

use crate::common::{COSINES, ROUGHNESSES, check, check_samples, tables, vector};
use crate::quadrature::unit;

fn dark() -> Parameters {
    Parameters { base: Vector::splat(0.0), specular: 0.0, ..Parameters::default() }
}

#[test]
fn a_coat_takes_what_it_reflects_from_the_base() {
    for clearcoat_roughness in [0.0, 0.3, 0.9] {
        for cosine in COSINES {
            let coat = Parameters { clearcoat: 1.0, clearcoat_roughness, ..dark() };
            let found = check(&coat, cosine, 0.2).specular[0];
            let [scale, bias] = integrate_dfg(cosine, f64::from(clearcoat_roughness.max(0.045)));
            let wanted = 0.04 * scale + bias;
            assert!((found - wanted).abs() < 0.005, "{found} {wanted} at {cosine}, {coat:?}");
            for roughness in [0.2, 0.8] {
                let white =
                    Parameters { roughness, clearcoat: 0.7, clearcoat_roughness, ..Parameters::default() };
                let total = check(&white, cosine, 0.2).total()[0];
                assert!((total - 1.0).abs() < 0.005, "{total} at {cosine}, {white:?}");
            }
        }
    }
}

#[test]
fn a_coat_follows_its_own_normal() {
    let tilted = Parameters {
        clearcoat: 1.0,
        clearcoat_roughness: 0.1,
        clearcoat_normal: vector(unit([0.3, 0.1, 1.0])),
        ..Parameters::default()
    };
    for cosine in COSINES {
        check_samples(&tilted, cosine, 0.6);
    }
}

#[test]
fn sheen_takes_its_albedo_from_the_base() {
    for sheen_roughness in ROUGHNESSES {
        for cosine in COSINES {
            let sheen = Parameters { sheen_color: Vector::splat(1.0), sheen_roughness, ..dark() };
            let found = check(&sheen, cosine, 0.2).specular[0];
            let wanted = integrate_sheen(cosine, f64::from(sheen_roughness)).min(1.0);
            assert!((found - wanted).abs() < 0.005, "{found} {wanted} at {cosine}, {sheen:?}");
            let white = Parameters {
                sheen_color: Vector::splat(0.6),
                sheen_roughness,
                roughness: 0.5,
                ..Parameters::default()
            };
            let total = check(&white, cosine, 0.2).total()[0];
            assert!((total - 1.0).abs() < 0.005, "{total} at {cosine}, {white:?}");
        }
    }
}

#[test]
fn the_shipped_table_of_sheen_is_what_the_code_integrates() {
    let place = |k: usize| (k as f64 + 0.5) / f64::from(DFG_SIDE);
    for k in (0..sheen_table().len()).step_by(37) {
        let (x, y) = (place(k % DFG_SIDE as usize), place(k / DFG_SIDE as usize));
        let wanted = isoframe_raster::exact::flush(integrate_sheen(x * x, y) as f32);
        assert_eq!(sheen_table()[k].to_bits(), wanted.to_bits(), "entry {k}");
    }
}

/// Largest loss by anisotropy, at grazing angles along smooth facets: the table knows round lobes only.
const STRETCHED_LOSS: [(f32, f64); 3] = [(0.3, 0.34), (0.6, 0.57), (1.0, 0.71)];

#[test]
fn stretched_facets_gain_nothing_and_lose_no_more_than_is_said() {
    for roughness in ROUGHNESSES {
        for (anisotropy, loss) in STRETCHED_LOSS {
            for cosine in COSINES {
                for turn in [0.0, 0.1, 0.25] {
                    for metallic in [0.0, 1.0] {
                        let p = Parameters { roughness, anisotropy, metallic, ..Parameters::default() };
                        let total = check_samples(&p, cosine, turn);
                        assert!(total > 1.0 - loss, "{total} at {cosine}, {turn}, {p:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn light_is_stretched_along_the_tangent() {
    let p = Parameters { roughness: 0.2, anisotropy: 0.8, metallic: 1.0, ..Parameters::default() };
    let bsdf = Bsdf::new(&p, Vector::new([0.0, 0.0, 1.0]), &tables());
    let along = bsdf.evaluate(Vector::new([0.6, 0.0, 0.8])).specular.x;
    let across = bsdf.evaluate(Vector::new([0.0, 0.6, 0.8])).specular.x;
    assert!(along > 10.0 * across, "{along} {across}");
}

#[test]
fn a_film_takes_no_more_than_all() {
    for thickness in [0.0, 100.0, 380.0, 900.0] {
        for (metallic, base) in [(0.0, 1.0), (1.0, 0.6)] {
            for cosine in COSINES {
                let p = Parameters {
                    roughness: 0.2,
                    metallic,
                    base: Vector::splat(base),
                    iridescence: 1.0,
                    iridescence_ior: 1.6,
                    iridescence_thickness_nm: thickness,
                    ..Parameters::default()
                };
                let found = check(&p, cosine, 0.2);
                if metallic == 0.0 {
                    assert!(found.total().iter().all(|t| (t - 1.0).abs() < 0.005), "{found:?} {p:?}");
                }
            }
        }
    }
}

#[test]
fn all_layers_together_keep_the_furnace() {
    for cosine in COSINES {
        let p = Parameters {
            roughness: 0.4,
            metallic: 0.3,
            anisotropy: 0.5,
            clearcoat: 0.8,
            clearcoat_roughness: 0.1,
            sheen_color: Vector::new([0.5, 0.2, 0.1]),
            sheen_roughness: 0.4,
            iridescence: 0.6,
            transmission: 0.5,
            ..Parameters::default()
        };
        check_samples(&p, cosine, 0.15);
    }
}
