//! Sets the linker flags that a module of Node needs on each platform.

fn main() {
    napi_build::setup();
}
