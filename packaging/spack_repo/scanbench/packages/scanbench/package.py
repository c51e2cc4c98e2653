from pathlib import Path

from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Scanbench(MakefilePackage, CudaPackage):
    """Benchmark of prefix-sum scan, stream compaction, reduction and radix sort on CPUs and
    GPUs, with every element of every result checked."""

    # The clone that this recipe lies in.
    git = Path(__file__).resolve().parents[5].as_uri()

    license("MIT")

    version("main", branch="main")
    version("1.0.0", tag="v1.0.0")

    variant("tbb", default=True, description="Compare with oneTBB")
    variant("highway", default=False, description="Compare with Highway")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("jansson")
    depends_on("intel-oneapi-tbb", when="+tbb")
    depends_on("highway", when="+highway")
    depends_on("cuda@12:", when="+cuda")

    def build_targets_of(self, spec):
        if "~cuda" in spec:
            return ["NVCC="]
        targets = [f"NVCC={spec['cuda'].prefix.bin.nvcc}", f"CUDA_HOME={spec['cuda'].prefix}"]
        if "none" not in spec.variants["cuda_arch"].value:
            targets.append("ARCHS=" + " ".join(spec.variants["cuda_arch"].value))
        return targets

    @property
    def build_targets(self):
        return self.build_targets_of(self.spec)

    @property
    def install_targets(self):
        return ["install", f"PREFIX={self.prefix}", *self.build_targets_of(self.spec)]
