//! Which test answers which of CASES: real-world trouble with other renderers, each with its right answer. Tests
//! are named by file and function, so that a case cannot lose its test without being missed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A case and the tests that hold it, by file from the root of the tree.
struct Case {
    id: &'static str,
    says: &'static str,
    tests: &'static [(&'static str, &'static [&'static str])],
}

const fn case(
    id: &'static str,
    says: &'static str,
    tests: &'static [(&'static str, &'static [&'static str])],
) -> Case {
    Case { id, says, tests }
}

const CAMERA: &str = "raster/tests/cases/camera.rs";
const FILE: &str = "raster/tests/cases/file.rs";
const GEOMETRY: &str = "raster/tests/cases/geometry.rs";
const MATERIAL: &str = "raster/tests/cases/material.rs";
const MOTION: &str = "raster/tests/cases/motion.rs";
const ORDER: &str = "raster/tests/cases/order.rs";
const GPU_DEVICE: &str = "raster/tests/gpu_device.rs";
const IMAGE_BOMBS: &str = "raster/tests/image_bombs.rs";
const IMAGE_DECODE: &str = "raster/tests/image_decode.rs";
const MATRIX: &str = "raster/tests/matrix.rs";
const MEMORY: &str = "raster/tests/memory.rs";
const POSE_ANIMATION: &str = "raster/tests/pose/animation.rs";
const POSE_BOUNDS: &str = "raster/tests/pose/bounds.rs";
const POSE_CAMERA: &str = "raster/tests/pose/camera.rs";
const POSE_HIERARCHY: &str = "raster/tests/pose/hierarchy.rs";
const SCENE_ATTRIBUTES: &str = "raster/tests/scene/attributes.rs";
const SCENE_EXTENSION: &str = "raster/tests/scene/extension.rs";
const SCENE_GEOMETRY: &str = "raster/tests/scene/geometry.rs";
const SCENE_GRAPH: &str = "raster/tests/scene/graph.rs";
const SCENE_IMAGE: &str = "raster/tests/scene/image.rs";
const SCENE_REFUSED: &str = "raster/tests/scene/refused.rs";
const SCENE_SKIN: &str = "raster/tests/scene/skin.rs";
const SCENE_SOURCE: &str = "raster/tests/scene/source.rs";
const SCENE_TANGENT: &str = "raster/tests/scene/tangent.rs";
const CLI_CONFORMANCE: &str = "orchestrator/tests/cli/conformance.rs";
const CLI_GOLDENS: &str = "orchestrator/tests/cli/goldens.rs";
const CLI_MISTAKES: &str = "orchestrator/tests/cli/mistakes.rs";
const CLI_SERVE: &str = "orchestrator/tests/cli/serve.rs";
const CLI_SEQUENCE: &str = "orchestrator/tests/cli/sequence.rs";
const HTTP_CONNECTIONS: &str = "orchestrator/tests/http/connections.rs";
const HTTP_SCENES: &str = "orchestrator/tests/http/scenes.rs";
const HTTP_BOMBS: &str = "orchestrator/tests/http_load/bombs.rs";
const HTTP_LOAD: &str = "orchestrator/tests/http_load/load.rs";
const HTTP_MEMORY: &str = "orchestrator/tests/http_load/memory.rs";

const COVERED: &[Case] = &[
    case(
        "B01",
        "mirrored nodes",
        &[(GEOMETRY, &["mirrored_nodes_show_the_same_side"]), (POSE_HIERARCHY, &["mirrors_multiply"])],
    ),
    case(
        "B04",
        "a skinned mesh's own node",
        &[
            (MOTION, &["a_skinned_node_that_moves_does_not"]),
            (POSE_HIERARCHY, &["a_skinned_mesh_ignores_its_node"]),
        ],
    ),
    case(
        "B05",
        "cubic rotation",
        &[(POSE_ANIMATION, &["cubic_rotation_is_rigid", "cubic_rotation_tangents_span_the_segment"])],
    ),
    case("B06", "times at and beyond keys", &[(POSE_ANIMATION, &["clamps_and_hits_keys"])]),
    case(
        "B07",
        "data URIs",
        &[
            (FILE, &["containers_render_the_same"]),
            (SCENE_SOURCE, &["data_uris", "every_container_gives_the_same_scene"]),
        ],
    ),
    case(
        "B08",
        "cameras without zfar and aspect",
        &[
            (CAMERA, &["cameras_without_far_plane_and_aspect", "lenses_do_not_stretch"]),
            (POSE_CAMERA, &["lenses_keep_pixels_square"]),
            (SCENE_GRAPH, &["cameras"]),
        ],
    ),
    case(
        "B10",
        "vertex colours",
        &[
            (MATERIAL, &["vertex_colors_are_linear_fractions"]),
            (SCENE_ATTRIBUTES, &["colours_interleaved_three_wide_and_out_of_range"]),
        ],
    ),
    case("B11", "odd image encodings", &[(IMAGE_DECODE, &["odd_encodings_of_one_grey_are_the_same"])]),
    case(
        "B13",
        "morph weights of nodes",
        &[
            (FILE, &["node_weights_come_before_mesh_weights"]),
            (POSE_HIERARCHY, &["weights_in_force"]),
            (SCENE_GRAPH, &["weights_of_meshes_and_nodes"]),
        ],
    ),
    case(
        "B14",
        "normals absent",
        &[(GEOMETRY, &["faces_without_normals_are_flat"]), (SCENE_GEOMETRY, &["flat_normals_in_every_mode"])],
    ),
    case(
        "B15",
        "bad index values",
        &[(SCENE_REFUSED, &["bad_indices"]), (SCENE_GEOMETRY, &["counts_must_fit_the_mode"])],
    ),
    case(
        "B17",
        "shapes of the node graph",
        &[
            (
                SCENE_GRAPH,
                &["graphs_that_are_no_trees", "a_chain_of_100_000_nodes", "files_that_draw_nothing_load"],
            ),
            (SCENE_SKIN, &["a_joint_may_be_the_meshs_ancestor"]),
            (POSE_HIERARCHY, &["deep_chains_hold", "a_joint_may_be_an_ancestor"]),
            (GEOMETRY, &["empty_files_are_background"]),
        ],
    ),
    case(
        "B18",
        "required extensions",
        &[(FILE, &["quantized_positions_are_positions"]), (SCENE_EXTENSION, &["unknown_extensions"])],
    ),
    case(
        "B19",
        "URIs that escape",
        &[
            (
                SCENE_SOURCE,
                &[
                    "uploads_open_no_file",
                    "loading_an_upload_reads_nothing",
                    "directories_stay_inside",
                    "archives_stay_inside",
                ],
            ),
            (HTTP_SCENES, &["uris_in_an_upload_open_no_file_and_no_connection"]),
        ],
    ),
    case(
        "B21",
        "non-finite and degenerate data",
        &[
            (SCENE_REFUSED, &["numbers_that_are_not_finite"]),
            (SCENE_TANGENT, &["degenerate_maps_and_triangles_give_sound_tangents"]),
            (SCENE_GEOMETRY, &["triangles_without_area_are_harmless"]),
            (POSE_HIERARCHY, &["nothing_scaled_is_finite"]),
            (GEOMETRY, &["collapsed_things_stay_finite"]),
        ],
    ),
    case(
        "B22",
        "motion of skins",
        &[
            (
                MOTION,
                &["skinned_surfaces_move_with_their_joints", "surfaces_move_with_nodes_morphs_and_instances"],
            ),
            (
                CLI_SEQUENCE,
                &[
                    "the_first_frame_has_nothing_previous",
                    "the_first_frames_files_say_that_nothing_was_previous",
                ],
            ),
        ],
    ),
    case(
        "B24",
        "jitter, sign and units of motion",
        &[(
            MOTION,
            &["stillness_is_zero", "frames_follow_from_the_one_before", "surfaces_move_with_cameras"],
        )],
    ),
    case(
        "B26",
        "MASK in depth and motion",
        &[(
            MATERIAL,
            &["masks_decide_all_outputs_alike", "alpha_at_the_cutoff_passes", "blending_ignores_the_cutoff"],
        )],
    ),
    // What a network makes of such history comes with the network.
    case(
        "B27",
        "cuts and history behind the camera",
        &[
            (MOTION, &["cuts_stay_finite"]),
            (CLI_SEQUENCE, &["the_first_frames_files_say_that_nothing_was_previous"]),
        ],
    ),
    case(
        "B28",
        "order at equal depth",
        &[(
            ORDER,
            &["equal_depths_have_one_answer", "of_equal_depths_the_first_is_seen", "fresh_processes_agree"],
        )],
    ),
    case(
        "B29",
        "wrong or no adapter",
        &[
            (GPU_DEVICE, &["no_driver_at_all_is_an_answer", "software_adapters_are_opened_by_name_only"]),
            (CLI_CONFORMANCE, &["no_adapter_is_an_answer"]),
            (CLI_MISTAKES, &["what_is_not_on_this_machine"]),
            (
                CLI_SERVE,
                &[
                    "without_a_driver_the_cpu_serves_and_says_why",
                    "without_the_adapter_asked_for_it_does_not_start",
                    "a_software_adapter_serves_where_it_is_named_and_every_reply_says_so",
                ],
            ),
        ],
    ),
    case("B30", "rows of a readback", &[(GPU_DEVICE, &["pixels_are_where_they_belong_at_any_width"])]),
    case(
        "B32",
        "growth of memory",
        &[
            (MEMORY, &["frames_and_failures_leave_nothing_behind"]),
            (GPU_DEVICE, &["memory_does_not_grow_from_frame_to_frame"]),
            (HTTP_MEMORY, &["memory_does_not_grow_over_many_requests"]),
        ],
    ),
    case(
        "B38",
        "unbounded queues",
        &[
            (HTTP_LOAD, &["a_thousand_posts_at_once_are_bounded_and_refused_quickly", "a_refusal_is_quick"]),
            (
                HTTP_SCENES,
                &[
                    "uploads_beyond_the_seats_are_refused_at_once_and_seats_come_back",
                    "an_upload_waits_for_a_seat_and_is_refused_in_the_end",
                ],
            ),
        ],
    ),
    case(
        "B39",
        "body limits and slow clients",
        &[
            (
                HTTP_SCENES,
                &[
                    "the_size_limit_is_exact_and_its_answer_arrives",
                    "slow_bodies_are_given_up_and_others_are_not_held_up",
                    "curl_receives_the_answer_to_a_body_beyond_the_limit",
                ],
            ),
            (
                HTTP_CONNECTIONS,
                &[
                    "half_a_header_is_closed_and_silence_too",
                    "two_hundred_silent_connections_hold_up_nobody",
                    "six_hundred_slow_clients_hold_up_no_frame_and_are_closed",
                ],
            ),
        ],
    ),
    case(
        "B40",
        "image bombs",
        &[
            (
                IMAGE_BOMBS,
                &[
                    "headers_that_claim_too_much_are_refused_at_once",
                    "compressed_chunks_are_not_inflated",
                    "pixels_beyond_the_header_are_not_kept",
                    "a_canvas_cannot_hide_larger_pixels",
                    "a_thousand_textures_are_refused_before_the_first",
                ],
            ),
            (SCENE_IMAGE, &["bombs_are_refused_by_their_header"]),
            (HTTP_SCENES, &["compressed_bodies_and_bad_forms_are_refused"]),
            (
                HTTP_BOMBS,
                &[
                    "image_bombs_are_refused_in_bounded_memory",
                    "a_gigabyte_of_text_in_an_image_is_not_inflated",
                    "a_compressed_body_is_refused_unread",
                ],
            ),
        ],
    ),
    // Frames without a network are compared by hash: there is no tolerance for a defect to hide in.
    case(
        "B45",
        "tolerance that hides defects",
        &[(CLI_GOLDENS, &["the_shipped_goldens_are_the_same", "another_hash_fails_and_leaves_pictures"])],
    ),
    case(
        "B46",
        "baselines made by themselves, drivers that drift",
        &[
            (
                CLI_GOLDENS,
                &[
                    "checking_never_writes_to_the_goldens",
                    "a_missing_golden_fails",
                    "an_update_needs_a_reason_and_a_name_and_still_fails",
                ],
            ),
            (MATRIX, &["every_adapter_gives_the_cpus_bytes"]),
        ],
    ),
    case(
        "R03",
        "orthographic half extents",
        &[
            (CAMERA, &["lenses_do_not_stretch"]),
            (POSE_CAMERA, &["lenses_keep_pixels_square"]),
            (SCENE_GRAPH, &["cameras"]),
        ],
    ),
    case("R04", "normals under uneven scale", &[(GEOMETRY, &["normals_go_by_the_inverse_transpose"])]),
    case(
        "R05",
        "the second set of texture coordinates",
        &[(FILE, &["each_texture_has_its_coordinate_set"]), (SCENE_ATTRIBUTES, &["both_uv_sets_are_read"])],
    ),
    case(
        "R06",
        "skin weights",
        &[
            (FILE, &["skin_weights_are_shares"]),
            (SCENE_SKIN, &["weights_become_shares", "a_second_set_of_joints_counts"]),
        ],
    ),
    case("R07", "empty geometry", &[(FILE, &["empty_geometry_draws_nothing"])]),
    case(
        "R08",
        "points and lines",
        &[
            (GEOMETRY, &["points_and_lines_are_a_pixel_wide"]),
            (SCENE_GEOMETRY, &["points_and_lines_without_normals_stay_without"]),
        ],
    ),
    case(
        "R09",
        "bounds",
        &[
            (POSE_BOUNDS, &["turned_boxes_are_tight", "only_what_is_drawn_counts"]),
            (SCENE_GEOMETRY, &["primitives_without_position_are_skipped"]),
        ],
    ),
    case(
        "R10",
        "memory after a big request",
        &[
            (MEMORY, &["a_big_frame_is_given_back"]),
            (GPU_DEVICE, &["a_big_frame_is_given_back"]),
            (HTTP_MEMORY, &["a_big_frame_is_given_back"]),
        ],
    ),
    case("R11", "pin-holes of clipping", &[(GEOMETRY, &["closed_rooms_have_no_holes"])]),
    case("R12", "order of blended surfaces", &[(MATERIAL, &["blended_surfaces_are_ordered_by_depth"])]),
];

/// Cases that wait, and for what.
const LATER: &[(&str, &str)] = &[
    ("B33", "non-finite and extreme input of a network: there is none yet"),
    ("B34", "seams between a network's tiles: there is none yet"),
    ("B36", "a network's batches and executors: there is none yet"),
    ("B42", "models swapped under load: there are none yet"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names of the functions that `#[test]` stands before, other attributes between them allowed.
fn tests_of(source: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut marked = false;
    for line in source.lines().map(str::trim) {
        if line == "#[test]" {
            marked = true;
        } else if let Some(rest) = line.strip_prefix("fn ") {
            if marked && let Some((name, _)) = rest.split_once('(') {
                names.insert(name);
            }
            marked = false;
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            marked = false;
        }
    }
    names
}

#[test]
fn every_case_names_tests_that_exist() {
    for Case { id, says, tests } in COVERED {
        assert!(!tests.is_empty(), "{id}, {says}, has no test");
        for (file, functions) in *tests {
            let source = std::fs::read_to_string(root().join(file))
                .unwrap_or_else(|error| panic!("{id}, {says}: {file}: {error}"));
            let there = tests_of(&source);
            assert!(!functions.is_empty(), "{id}, {says}: {file} without a test");
            for function in *functions {
                assert!(there.contains(function), "{id}, {says}: no test {function} in {file}");
            }
        }
    }
}

#[test]
fn each_case_stands_once_and_in_order() {
    let covered: Vec<&str> = COVERED.iter().map(|case| case.id).collect();
    assert!(covered.is_sorted_by(|a, b| a < b), "{covered:?}");
    let later: Vec<&str> = LATER.iter().map(|(id, _)| *id).collect();
    assert!(later.is_sorted_by(|a, b| a < b), "{later:?}");
    assert!(later.iter().all(|id| !covered.contains(id)), "{later:?} wait and are covered");
}

/// Ids like B01 and R12 in a text.
fn ids_of(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_id = |word: &&str| {
        word.len() == 3 && word.starts_with(['B', 'R']) && word[1..].bytes().all(|b| b.is_ascii_digit())
    };
    words.filter(is_id).collect()
}

/// What a test file says it answers is in the index.
#[test]
fn what_tests_claim_is_indexed() {
    let files: BTreeSet<&str> = COVERED.iter().flat_map(|case| case.tests).map(|(file, _)| *file).collect();
    for file in files {
        let source = std::fs::read_to_string(root().join(file)).expect("read above");
        let comments: Vec<&str> =
            source.lines().filter_map(|line| line.split_once("//")).map(|(_, c)| c).collect();
        for id in ids_of(&comments.join("\n")) {
            let indexed =
                COVERED.iter().any(|case| case.id == id && case.tests.iter().any(|(f, _)| *f == file));
            assert!(indexed, "{file} speaks of {id}, the index does not name it there");
        }
    }
}
