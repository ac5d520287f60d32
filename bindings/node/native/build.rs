//! Sets the linker flags that a native Node module needs on each platform.

fn main() {
    napi_build::setup();
}
