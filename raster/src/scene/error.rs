//! What is wrong with a scene file, and where.

use thiserror::Error;

/// Longest piece of a file's own text (names, URIs) that an error repeats. *Units*: characters.
const QUOTE_CHARS: usize = 80;

/// Text of the file, shortened and with control characters escaped, fit for an error or a note.
pub(crate) fn quote(text: &str) -> String {
    let mut out: String = text.chars().take(QUOTE_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTE_CHARS).is_some() {
        out.push('…');
    }
    out
}

/// Why a scene was refused. `what` says where in the file: `accessor 5`, `mesh 0 primitive 1 POSITION`.
///
/// Texts repeat names and URIs of the file, shortened and escaped, never file contents or server paths.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SceneError {
    /// A file could not be read from disk (command line only).
    #[error("{what}: cannot be read: {reason}")]
    Io {
        /// Which file, relative to the scene.
        what: String,
        /// The system's word for it.
        reason: String,
    },
    /// Neither glTF nor a zip holding one.
    #[error("not a glTF scene: {reason}")]
    UnknownFormat {
        /// Why.
        reason: String,
    },
    /// The file ends before what it announces.
    #[error("{what} is truncated: {wanted} bytes announced, {got} there")]
    Truncated {
        /// Which part.
        what: String,
        /// Bytes announced.
        wanted: u64,
        /// Bytes present.
        got: u64,
    },
    /// A GLB container that breaks its own rules.
    #[error("invalid GLB: {reason}")]
    Container {
        /// Which rule.
        reason: String,
    },
    /// A zip that cannot be used.
    #[error("invalid archive: {reason}")]
    Archive {
        /// Why.
        reason: String,
    },
    /// JSON that does not parse, or has a value of the wrong type.
    #[error("invalid JSON at line {line}, column {column}: {reason}")]
    Json {
        /// 1-based.
        line: usize,
        /// 1-based.
        column: usize,
        /// The parser's word for it.
        reason: String,
    },
    /// Another version of glTF.
    #[error("glTF version {version} is not supported (2.x is, where its minVersion is 2.0)")]
    Version {
        /// The version asked for.
        version: String,
    },
    /// The file requires an extension that is not rendered.
    #[error("extension {name} is not supported")]
    UnsupportedExtension {
        /// Its name.
        name: String,
    },
    /// A named limit was passed.
    #[error("{what}: {wanted} exceeds the limit {limit} = {allowed}")]
    Limit {
        /// What is too big.
        what: String,
        /// Name of the setting in [`Limits`](super::Limits).
        limit: &'static str,
        /// What the file wants.
        wanted: u64,
        /// What is allowed.
        allowed: u64,
    },
    /// A number that names something which is not there.
    #[error("{what}: {target} {index} does not exist ({count} present)")]
    Reference {
        /// Who refers.
        what: String,
        /// Kind of thing referred to.
        target: &'static str,
        /// The number.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// A vertex index at or beyond the number of vertices.
    #[error("{what}: index {value} at {at} is out of range ({count} vertices)")]
    IndexOutOfRange {
        /// Which indices.
        what: String,
        /// Position within the accessor.
        at: u64,
        /// The index.
        value: u32,
        /// Number of vertices.
        count: u64,
    },
    /// A vertex index of the largest value of its type, which some APIs take for "start again".
    #[error("{what}: index {value} at {at} is the primitive restart value")]
    IndexRestart {
        /// Which indices.
        what: String,
        /// Position within the accessor.
        at: u64,
        /// The index.
        value: u32,
    },
    /// A number of indices or vertices that the primitive mode does not allow.
    #[error("{what}: {count} indices do not make {mode}")]
    IndexCount {
        /// Which primitive.
        what: String,
        /// The mode's name.
        mode: &'static str,
        /// How many there are.
        count: u64,
        /// How many there must be at least.
        least: u64,
    },
    /// NaN or infinity.
    #[error("{what}: element {element} is not finite")]
    NotFinite {
        /// Which data.
        what: String,
        /// Which element.
        element: u64,
    },
    /// A value outside what is allowed.
    #[error("{what}: {value} is out of range, {allowed} is allowed")]
    ValueOutOfRange {
        /// Which property.
        what: String,
        /// The value.
        value: f64,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// Two things that must be equally many are not.
    #[error("{what}: {wanted} expected, {got} found")]
    CountMismatch {
        /// Which things.
        what: String,
        /// How many there must be.
        wanted: u64,
        /// How many there are.
        got: u64,
    },
    /// An accessor of a type that its use does not allow.
    #[error("{what}: {got} is not allowed, {allowed} is")]
    AccessorFormat {
        /// Which use.
        what: String,
        /// Type and component type found.
        got: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Data that reaches beyond its buffer view or buffer.
    #[error("{what}: ends at byte {end} of {available}")]
    OutOfBounds {
        /// Which accessor, view or image.
        what: String,
        /// First byte after the data.
        end: u64,
        /// Bytes available.
        available: u64,
    },
    /// An offset that is not a multiple of the component size.
    #[error("{what}: byte {offset} is not a multiple of {alignment}")]
    Misaligned {
        /// Which accessor or view.
        what: String,
        /// The offset or stride.
        offset: u64,
        /// What it must be a multiple of.
        alignment: u64,
    },
    /// A stride that is missing, too small or too big.
    #[error("{what}: stride {stride}: {reason}")]
    Stride {
        /// Which accessor or view.
        what: String,
        /// The stride.
        stride: u64,
        /// Why not.
        reason: &'static str,
    },
    /// Sparse indices that do not increase or reach too far.
    #[error("{what}: sparse index {value} at {at}: {reason}")]
    Sparse {
        /// Which accessor.
        what: String,
        /// Position within the sparse indices.
        at: u64,
        /// The index.
        value: u32,
        /// Why not.
        reason: &'static str,
    },
    /// A node that is its own ancestor.
    #[error("node {node} is its own ancestor")]
    NodeCycle {
        /// glTF node index.
        node: u32,
    },
    /// A node with two parents, or one that a scene lists although it has a parent.
    #[error("node {node} has more than one parent")]
    NodeParents {
        /// glTF node index.
        node: u32,
    },
    /// A URI that leaves the scene's directory or archive.
    #[error("{what}: uri \"{uri}\" leaves the scene's directory")]
    UriEscapes {
        /// Whose URI.
        what: String,
        /// The URI.
        uri: String,
    },
    /// A URI with a scheme; nothing is ever fetched.
    #[error("{what}: uri \"{uri}\" has a scheme; only relative paths and data: are read")]
    UriScheme {
        /// Whose URI.
        what: String,
        /// The URI.
        uri: String,
    },
    /// A URI that is not well formed.
    #[error("{what}: invalid uri \"{uri}\": {reason}")]
    UriInvalid {
        /// Whose URI.
        what: String,
        /// The URI.
        uri: String,
        /// Why.
        reason: &'static str,
    },
    /// A data URI that cannot be decoded.
    #[error("{what}: invalid data uri: {reason}")]
    DataUri {
        /// Whose URI.
        what: String,
        /// Why.
        reason: String,
    },
    /// A side file that is not there.
    #[error("{what}: file \"{uri}\" is missing")]
    MissingFile {
        /// Whose file.
        what: String,
        /// The URI.
        uri: String,
    },
    /// A side file named by a scene that came alone.
    #[error("{what}: \"{uri}\" names a side file, but the scene came as a single file; send a zip or a .glb")]
    SideFile {
        /// Whose file.
        what: String,
        /// The URI.
        uri: String,
    },
    /// A picture that cannot be decoded.
    #[error("{what}: {reason}")]
    Image {
        /// Which image.
        what: String,
        /// The decoder's word for it.
        reason: String,
    },
    /// A meshopt stream that cannot be decoded.
    #[error("{what}: invalid meshopt data: {reason}")]
    Meshopt {
        /// Which view.
        what: String,
        /// Why.
        reason: &'static str,
    },
    /// Animation keys that do not increase.
    #[error("{what}: time {at} is not greater than the one before")]
    AnimationTimes {
        /// Which sampler.
        what: String,
        /// Position of the key.
        at: u64,
    },
    /// Properties that contradict each other or a rule of the specification.
    #[error("{what}: {reason}")]
    Structure {
        /// Where.
        what: String,
        /// Which rule.
        reason: &'static str,
    },
}

impl SceneError {
    /// A stable name of the kind of error, in kebab case: the last part of an HTTP problem's type.
    pub fn code(&self) -> &'static str {
        match self {
            SceneError::Io { .. } => "io",
            SceneError::UnknownFormat { .. } => "unknown-format",
            SceneError::Truncated { .. } => "truncated",
            SceneError::Container { .. } => "invalid-glb",
            SceneError::Archive { .. } => "invalid-archive",
            SceneError::Json { .. } => "invalid-json",
            SceneError::Version { .. } => "unsupported-version",
            SceneError::UnsupportedExtension { .. } => "unsupported-extension",
            SceneError::Limit { .. } => "limit-exceeded",
            SceneError::Reference { .. } => "unresolved-reference",
            SceneError::IndexOutOfRange { .. } => "index-out-of-range",
            SceneError::IndexRestart { .. } => "index-restart-value",
            SceneError::IndexCount { count, least, .. } if count < least => "too-few-indices",
            SceneError::IndexCount { .. } => "index-count",
            SceneError::NotFinite { .. } => "not-finite",
            SceneError::ValueOutOfRange { .. } => "value-out-of-range",
            SceneError::CountMismatch { .. } => "count-mismatch",
            SceneError::AccessorFormat { .. } => "accessor-format",
            SceneError::OutOfBounds { .. } => "out-of-bounds",
            SceneError::Misaligned { .. } => "misaligned",
            SceneError::Stride { .. } => "invalid-stride",
            SceneError::Sparse { .. } => "invalid-sparse",
            SceneError::NodeCycle { .. } => "node-cycle",
            SceneError::NodeParents { .. } => "node-two-parents",
            SceneError::UriEscapes { .. } => "uri-escapes",
            SceneError::UriScheme { .. } => "uri-scheme",
            SceneError::UriInvalid { .. } => "invalid-uri",
            SceneError::DataUri { .. } => "invalid-data-uri",
            SceneError::MissingFile { .. } => "missing-file",
            SceneError::SideFile { .. } => "side-file",
            SceneError::Image { .. } => "invalid-image",
            SceneError::Meshopt { .. } => "invalid-meshopt",
            SceneError::AnimationTimes { .. } => "animation-times",
            SceneError::Structure { .. } => "invalid-structure",
        }
    }
}
