//! Where everything is at one moment: animation, hierarchy, skins, cameras. Runs on the host, in `f64`, exact everywhere.
