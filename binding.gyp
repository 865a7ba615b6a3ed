# What node-gyp builds: `npx node-gyp rebuild` in a clone. The package has no copy at its top, where pnpm and Yarn
# would run node-gyp at every install: build.mjs puts one into dist/, and lib/addon/stage.ts copies that to build
# elsewhere.
{
  "variables": {
    "kernel_flags": ["-O3", "-ffp-contract=off", "-fvisibility=hidden", "-Wno-attributes", "-Wno-unknown-pragmas",
                     "-Wno-uninitialized", "-Wno-maybe-uninitialized", "-Wno-unknown-attributes", "-Wno-unknown-warning-option"],
    "kernel_folders": ["msl", "msl/cpu"]
  },
  "target_defaults": {
    "cflags!": ["-fno-exceptions"],
    "cflags_cc!": ["-fno-exceptions", "-fno-rtti"],
    "cflags": ["-Wall", "-Wextra", "-fvisibility=hidden"],
    "cflags_cc": ["-std=gnu++17"],
    # Not "xcode_settings" at once: those of node's common.gypi are merged after ours and win.
    "target_conditions": [
      ["OS=='mac'", {
        "xcode_settings": {
          "GCC_ENABLE_CPP_EXCEPTIONS": "YES",
          "GCC_ENABLE_CPP_RTTI": "YES",
          "CLANG_CXX_LANGUAGE_STANDARD": "gnu++17",
          "CLANG_CXX_LIBRARY": "libc++",
          "MACOSX_DEPLOYMENT_TARGET": "13.3",
          "GCC_SYMBOLS_PRIVATE_EXTERN": "YES"
        }
      }]
    ]
  },
  "targets": [
    {
      "target_name": "covarium",
      "dependencies": ["kernels_baseline"],
      "sources": [
        "objc/addon/arguments.cc", "objc/addon/decomposition.cc", "objc/addon/device.cc", "objc/addon/encoder.cc", "objc/addon/environment.cc", "objc/addon/exit.cc", "objc/addon/kernel.cc", "objc/addon/launch.cc",
        "objc/addon/module.cc", "objc/addon/opening.cc", "objc/addon/reduction.cc", "objc/addon/table.cc",
        "objc/cpu/address-space.cc", "objc/cpu/batch.cc", "objc/cpu/between.cc", "objc/cpu/blas-check.cc", "objc/cpu/blocked-svd.cc", "objc/cpu/blocked.cc", "objc/cpu/checked-memory.cc", "objc/cpu/choose-blas.cc", "objc/cpu/cholesky.cc", "objc/cpu/code-line.cc", "objc/cpu/command-buffer.cc", "objc/cpu/decomposition-commands.cc", "objc/cpu/decomposition.cc", "objc/cpu/device.cc", "objc/cpu/fiber.cc", "objc/cpu/group.cc", "objc/cpu/launch.cc",
        "objc/cpu/library-kernel.cc", "objc/cpu/log-density.cc", "objc/cpu/memory.cc", "objc/cpu/moments.cc", "objc/cpu/open-library.cc", "objc/cpu/pool.cc", "objc/cpu/processor.cc", "objc/cpu/product-scratch.cc",
        "objc/cpu/queue.cc", "objc/cpu/sample.cc", "objc/cpu/symmetry.cc",
        "objc/gpu/recorder.cc", "objc/gpu/routing.cc", "objc/gpu/measure.cc", "objc/gpu/host-copies.cc", "objc/gpu/queue.cc",
        "objc/table/csv.cc", "objc/table/decimal.cc", "objc/table/rows.cc"
      ],
      "include_dirs": ["node-addon-api", "node_modules/node-addon-api", "msl", "msl/cpu"],
      "defines": ["NAPI_VERSION=8", "NAPI_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED",
                  "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
                  "COVARIUM_VERSION=\"<!(node -p \"require('./package.json').version\")\""],
      "conditions": [
        ["OS=='mac'", {
          "sources": [
            "objc/cpu/blas-accelerate.cc", "objc/cuda/none.cc",
            "objc/metal/batch.mm", "objc/metal/candidate.cc", "objc/metal/capture.mm", "objc/metal/cholesky.mm", "objc/metal/choose.mm",
            "objc/metal/command-buffer.mm", "objc/metal/device.mm", "objc/metal/encoding.mm", "objc/metal/gpu-part.mm",
            "objc/metal/gpu.mm", "objc/metal/kernel-launch.mm", "objc/metal/kernel.mm", "objc/metal/launch.mm", "objc/metal/library.mm", "objc/metal/memory.mm", "objc/metal/mps.mm", "objc/metal/product.mm",
            "objc/gpu/refused-model.cc", "objc/metal/reflection.mm", "objc/metal/rows.mm", "objc/metal/sample.mm", "objc/gpu/self-test.cc",
            "objc/metal/shaders.mm", "objc/metal/texture.mm", "objc/metal/triangle.mm"
          ],
          "include_dirs": ["<(SHARED_INTERMEDIATE_DIR)"],
          "actions": [{
            "action_name": "embed_shaders",
            "inputs": ["msl/embed.mjs", "<!@(node -p \"require('fs').readdirSync('msl').filter((name) => /\\.(metal|h)$/.test(name)).map((name) => 'msl/' + name).join(' ')\")"],
            "outputs": ["<(SHARED_INTERMEDIATE_DIR)/shader-source.h"],
            "action": ["node", "msl/embed.mjs", "<@(_outputs)"]
          }],
          "link_settings": {
            "libraries": ["-framework Accelerate", "-framework CoreGraphics", "-framework Foundation", "-framework Metal",
                          "-framework MetalPerformanceShaders"]
          }
        }, {
          "sources": [
            "objc/cpu/blas-dlopen.cc",
            "objc/metal/none.cc"
          ],
          "dependencies": ["cuda"],
          "libraries": ["-ldl", "-lpthread"],
          "ldflags": ["-Wl,-z,nodelete"]
        }],
        ["target_arch=='x64'", { "dependencies": ["kernels_avx512", "kernels_avx2"] }]
      ]
    },
    {
      "target_name": "kernels_baseline",
      "type": "static_library",
      "sources": ["objc/cpu/simd/kernels.cc"],
      "include_dirs": ["<@(kernel_folders)"],
      "defines": ["COVARIUM_TABLE=kernelsBaseline"],
      "cflags": ["<@(kernel_flags)"],
      "xcode_settings": { "OTHER_CFLAGS": ["<@(kernel_flags)"] },
      # Few have such a processor, and its fused multiply-adds in software are a megabyte where they are laid out.
      "conditions": [["target_arch=='x64'", { "cflags!": ["-O3"], "cflags": ["-Os"], "xcode_settings": { "OTHER_CFLAGS": ["-Os"] } }]]
    }
  ],
  "conditions": [
    ["OS!='mac'", {
      "targets": [{
        "target_name": "cuda",
        "type": "static_library",
        "sources": [
          "objc/cuda/candidate.cc", "objc/cuda/cholesky.cc", "objc/cuda/choose.cc", "objc/cuda/command-buffer.cc", "objc/cuda/cublas.cc", "objc/cuda/cusolver.cc", "objc/cuda/density.cc", "objc/cuda/device.cc", "objc/cuda/driver.cc", "objc/cuda/decomposition.cc",
          "objc/cuda/gpu.cc", "objc/cuda/mirror.cc", "objc/cuda/moments.cc", "objc/cuda/nvrtc.cc", "objc/cuda/part.cc", "objc/cuda/product.cc", "objc/cuda/registers.cc", "objc/cuda/sample.cc", "objc/cuda/self-test.cc", "objc/cuda/solve.cc", "objc/cuda/user-kernel.cc"
        ],
        "include_dirs": ["msl", "msl/cpu"],
        # build.mjs makes the kernels, for all addons of the package; only those of the same sources are used.
        "defines": ["COVARIUM_CUDA_KERNELS=\"<!(node msl/cuda/embed.mjs)\""],
        # It talks to the driver, which takes the time.
        "cflags!": ["-O3"],
        "cflags": ["-Os"]
      }]
    }],
    ["target_arch=='x64'", {
      "targets": [
        {
          "target_name": "kernels_avx512",
          "type": "static_library",
          "sources": ["objc/cpu/simd/kernels.cc"],
          "include_dirs": ["<@(kernel_folders)"],
          "defines": ["COVARIUM_TABLE=kernelsAvx512"],
          "cflags": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma", "<@(kernel_flags)"],
          "xcode_settings": { "OTHER_CFLAGS": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx2", "-mfma", "<@(kernel_flags)"] }
        },
        {
          "target_name": "kernels_avx2",
          "type": "static_library",
          "sources": ["objc/cpu/simd/kernels.cc"],
          "include_dirs": ["<@(kernel_folders)"],
          "defines": ["COVARIUM_TABLE=kernelsAvx2"],
          "cflags": ["-mavx2", "-mfma", "<@(kernel_flags)"],
          "xcode_settings": { "OTHER_CFLAGS": ["-mavx2", "-mfma", "<@(kernel_flags)"] }
        }
      ]
    }]
  ]
}
