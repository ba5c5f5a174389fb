//! Images in: decoding under limits, and mip chains.
