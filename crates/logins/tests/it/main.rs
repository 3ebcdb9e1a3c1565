//! Tests of the public interface.

mod files;
