//! The goldens inside the binary, so that any machine can be checked without files.

/// A case and what must come out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Embedded {
    /// Name of the case.
    pub name: &'static str,
    /// `case.toml`.
    pub case: &'static str,
    /// `expected.toml`.
    pub expected: &'static str,
    /// The scene file; none where the case shows the built-in scene.
    pub scene: Option<&'static [u8]>,
}

macro_rules! text {
    ($name:literal, $file:literal) => {
        include_str!(concat!("../../../../goldens/", $name, "/", $file))
    };
}

macro_rules! embedded {
    ($($name:literal $scene:tt),* $(,)?) => {
        /// All cases, by name.
        pub(crate) const CASES: &[Embedded] = &[$(Embedded {
            name: $name,
            case: text!($name, "case.toml"),
            expected: text!($name, "expected.toml"),
            scene: embedded!(@scene $name $scene),
        }),*];
    };
    (@scene $name:literal own) => {
        Some(text!($name, "scene.gltf").as_bytes())
    };
    (@scene $name:literal demo) => {
        None
    };
}

embedded! {
    "alpha" own,
    "bumps" own,
    "clipping" own,
    "demo" demo,
    "demo-orbit" demo,
    "demo-orthographic" demo,
    "edges" own,
    "lights" own,
    "lobes" own,
    "materials" own,
    "morph" own,
    "nodes" own,
    "points-and-lines" own,
    "shadows" own,
    "skin" own,
    "textures" own,
    "ties" own,
    "traced-room" own,
    "variants" own,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::case::{Case, Expected, Folder};
    use super::*;

    #[test]
    fn the_binary_holds_every_case_there_is() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../goldens");
        let folders: Vec<String> =
            Folder::list(&root, &[]).expect("goldens").into_iter().map(|folder| folder.name).collect();
        let embedded: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(embedded, folders);
        for embedded in CASES {
            let case =
                Case::parse(embedded.case).unwrap_or_else(|error| panic!("{}: {error}", embedded.name));
            assert_eq!(case.scene == "demo", embedded.scene.is_none(), "{}", embedded.name);
            assert!(case.environment.is_none(), "{}: only scenes are in the binary", embedded.name);
            Expected::parse(embedded.expected).unwrap_or_else(|error| panic!("{}: {error}", embedded.name));
        }
    }
}
