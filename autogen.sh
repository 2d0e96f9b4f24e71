#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes configure and Makefile.in in the source tree.  Needed once after a clone, and never for a
# release archive, which ships them.  Runs as any user.
set -eu
cd "$(dirname "$0")"
exec autoreconf --force --install --warnings=all,no-portability
