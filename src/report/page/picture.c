/* SPDX-License-Identifier: MIT */
#include "report/page/picture.h"
