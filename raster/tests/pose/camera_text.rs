//! Cameras as text.

use std::f64::consts::PI;

use isoframe_raster::frame::{CameraChoice, NamedView, ProjectionChoice, RenderError};
use proptest::prelude::*;

fn orbit(theta_rad: f64, phi_rad: f64, radius: f64, radius_relative: bool) -> CameraChoice {
    CameraChoice::Orbit { theta_rad, phi_rad, radius, radius_relative, target_world: None, yfov_rad: None }
}

const IDENTITY: [f64; 16] = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];
const IDENTITY_TEXT: &str = "matrix:1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1";

fn matrix(projection: ProjectionChoice) -> CameraChoice {
    CameraChoice::Matrix { world_from_view: IDENTITY, projection }
}

fn perspective(yfov_rad: f64, znear: Option<f64>, zfar: Option<f64>) -> CameraChoice {
    matrix(ProjectionChoice::Perspective { yfov_rad, znear, zfar })
}

fn named(name: &str) -> CameraChoice {
    CameraChoice::Name(name.into())
}

/// Text, what it means, and how that is written back.
fn readings() -> Vec<(String, CameraChoice, String)> {
    let same = |text: &str, choice| (text.to_string(), choice, text.to_string());
    let as_written = |text: &str, choice, canonical: &str| (text.to_string(), choice, canonical.to_string());
    let full = CameraChoice::Orbit {
        theta_rad: PI / 4.0,
        phi_rad: PI / 3.0,
        radius: 2.5,
        radius_relative: false,
        target_world: Some([0.0, 1.5, -0.25]),
        yfov_rad: Some(PI / 6.0),
    };
    vec![
        same("auto", CameraChoice::Auto),
        as_written(" auto ", CameraChoice::Auto, "auto"),
        same("2", CameraChoice::Index(2)),
        as_written("007", CameraChoice::Index(7), "7"),
        same("front", CameraChoice::View(NamedView::Front)),
        same("three-quarter", CameraChoice::View(NamedView::ThreeQuarter)),
        same("45deg 60deg 105%", orbit(PI / 4.0, PI / 3.0, 1.05, true)),
        as_written("0deg 75deg auto", orbit(0.0, 75.0 * (PI / 180.0), 1.05, true), "0deg 75deg 105%"),
        as_written("auto auto auto", orbit(0.0, 75.0 * (PI / 180.0), 1.05, true), "0deg 75deg 105%"),
        as_written("-1.5rad 0.25rad 80cm", orbit(-1.5, 0.25, 0.8, false), "-1.5rad 0.25rad 0.8m"),
        as_written("0rad 0rad 900mm", orbit(0.0, 0.0, 0.9, false), "0deg 0deg 0.9m"),
        as_written("0deg 90deg 3", orbit(0.0, PI / 2.0, 3.0, false), "0deg 90deg 3m"),
        as_written("1e1deg 2e1deg 1e2%", orbit(PI / 18.0, PI / 9.0, 1.0, true), "10deg 20deg 100%"),
        same("45deg 60deg 2.5m fov=30deg target=0,1.5,-0.25", full.clone()),
        as_written(
            "45deg 60deg 250cm target=0m,150cm,-250mm fov=30deg",
            full,
            "45deg 60deg 2.5m fov=30deg target=0,1.5,-0.25",
        ),
        as_written(IDENTITY_TEXT, perspective(PI / 6.0, None, None), &format!("{IDENTITY_TEXT};yfov=30deg")),
        same(&format!("{IDENTITY_TEXT};yfov=0.8rad"), perspective(0.8, None, None)),
        as_written(
            &format!("{IDENTITY_TEXT}; zfar=100; yfov=45deg; znear=10cm"),
            perspective(PI / 4.0, Some(0.1), Some(100.0)),
            &format!("{IDENTITY_TEXT};yfov=45deg;znear=0.1;zfar=100"),
        ),
        same(
            &format!("{IDENTITY_TEXT};ortho=0.01"),
            matrix(ProjectionChoice::Orthographic { metres_per_px: 0.01 }),
        ),
        same("name:Camera.001", named("Camera.001")),
        as_written("Camera.001", named("Camera.001"), "name:Camera.001"),
        same("name:top", named("top")),
        same("name:2", named("2")),
        same("name: two spaces ", named(" two spaces ")),
        same("name:name:x", named("name:x")),
        same("name:45deg 60deg 105%", named("45deg 60deg 105%")),
        as_written("3rd floor", named("3rd floor"), "name:3rd floor"),
        as_written("Kamera für Küche", named("Kamera für Küche"), "name:Kamera für Küche"),
        as_written("Front", named("Front"), "name:Front"),
    ]
}

#[test]
fn reads_and_writes() {
    for (text, choice, canonical) in readings() {
        let read: CameraChoice = text.parse().unwrap_or_else(|error| panic!("`{text}`: {error}"));
        assert_eq!(read, choice, "`{text}`");
        assert_eq!(read.to_string(), canonical, "`{text}`");
        assert_eq!(canonical.parse::<CameraChoice>().expect("canonical text"), choice, "`{canonical}`");
    }
}

#[test]
fn refusals_teach() {
    let short = format!("{}x", &IDENTITY_TEXT[..IDENTITY_TEXT.len() - 1]);
    let cases = [
        ("", "a camera is `auto`, an index"),
        ("name:", "followed by the name"),
        ("99999999999", "write `name:99999999999`"),
        ("45deg", "not a whole orbit"),
        ("45deg 60deg", "such as `45deg 60deg 105%`"),
        ("45 60 105%", "`45deg` or `45rad`"),
        ("45deg 60deg 105q", "`2.5m`, `80cm`, `900mm`, `105%` or `auto`"),
        ("45deg 60m 105%", "is not an angle"),
        ("45deg 60deg 1e999%", "is not a radius"),
        ("45deg 60deg 105% zoom=2", "`fov=30deg` and `target=x,y,z`"),
        ("45deg 60deg 105% fov=30deg fov=40deg", "says again"),
        ("45deg 60deg 105% target=1,2", "is not a point"),
        ("matrix:", "is not a finite number"),
        ("matrix:1,2,3", "16 numbers, column after column, not 3"),
        (&short, "`x` in the matrix is not a finite number"),
        (&format!("{IDENTITY_TEXT};zoom=3"), "is no part of a lens"),
        (&format!("{IDENTITY_TEXT};ortho=0.01;znear=1"), "goes without"),
        (&format!("{IDENTITY_TEXT};znear=1;znear=2"), "says again"),
        (&format!("{IDENTITY_TEXT};znear=near"), "is not a length in metres"),
    ];
    for (text, teaching) in cases {
        match text.parse::<CameraChoice>() {
            Err(RenderError::Request { field: "camera", reason }) => {
                assert!(reason.contains(teaching), "`{text}` says: {reason}");
            }
            other => panic!("`{text}` gave {other:?}"),
        }
    }
}

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        -1000.0..1000.0f64,
        (-720i32..720).prop_map(|degrees| f64::from(degrees) * (PI / 180.0)),
        (-100_000i32..100_000).prop_map(|hundredths| f64::from(hundredths) / 100.0),
    ]
}

fn choice() -> impl Strategy<Value = CameraChoice> {
    let view = prop::sample::select(vec![NamedView::Front, NamedView::Left, NamedView::ThreeQuarter]);
    let orbit = (
        (finite(), finite(), finite(), any::<bool>()),
        prop::option::of(prop::array::uniform3(finite())),
        prop::option::of(finite()),
    )
        .prop_map(|((theta_rad, phi_rad, radius, radius_relative), target_world, yfov_rad)| {
            CameraChoice::Orbit { theta_rad, phi_rad, radius, radius_relative, target_world, yfov_rad }
        });
    let projection = prop_oneof![
        (finite(), prop::option::of(finite()), prop::option::of(finite()))
            .prop_map(|(yfov_rad, znear, zfar)| ProjectionChoice::Perspective { yfov_rad, znear, zfar }),
        finite().prop_map(|metres_per_px| ProjectionChoice::Orthographic { metres_per_px }),
    ];
    let matrix = (prop::array::uniform16(finite()), projection)
        .prop_map(|(world_from_view, projection)| CameraChoice::Matrix { world_from_view, projection });
    prop_oneof![
        Just(CameraChoice::Auto),
        any::<u32>().prop_map(CameraChoice::Index),
        ".+".prop_map(CameraChoice::Name),
        view.prop_map(CameraChoice::View),
        orbit,
        matrix,
    ]
}

proptest! {
    #[test]
    fn text_keeps_every_bit(choice in choice()) {
        let text = choice.to_string();
        prop_assert_eq!(text.parse::<CameraChoice>().expect("canonical text"), choice, "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(|matrix:|name:|[0-9.e+-]{0,6}(deg|rad|%|m)? ?){0,5}.*") {
        let _ = text.parse::<CameraChoice>();
    }
}
