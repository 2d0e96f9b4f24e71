#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# podman with the set-up of podman.sh, as a program: for what is run in a terminal.
. "${0%/*}/podman.sh"
pm "$@"
