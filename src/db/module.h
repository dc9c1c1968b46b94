/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_MODULE_H
#define FAIRMILL_DB_MODULE_H

struct db_functions;
struct error;

/*
 * Returns the functions of the driver `name`, which is "mysql" or "pgsql".  Loads the module
 * fairmill-NAME.so from the directory of the running program or, if it is not there, from
 * PKGLIBDIR.  The module stays loaded.  Returns NULL on failure, with ERROR_SETTINGS: the module is
 * not installed, is part of another version of fairmill, or lacks its client library.
 */
const struct db_functions *module_functions(const char *name, struct error *err);

#endif
