# SPDX-License-Identifier: Apache-2.0
"""Tells hatchling which systems the wheel is for: any Python, and glibc 2.28 or later."""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data.update(pure_python=False, tag="py3-none-manylinux_2_28_x86_64")
