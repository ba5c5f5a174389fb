//! The arithmetic that every backend agrees on.
