//! Poses, bounds, lights and views against values worked out by hand.

#[allow(dead_code)]
mod posed;

mod animation;
mod bounds;
mod camera;
mod camera_text;
mod hierarchy;
