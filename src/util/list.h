/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_LIST_H
#define FAIRMILL_UTIL_LIST_H

/* Step through a comma-separated list: *at starts as the list and is NULL at its end.  Returns a
 * copy of the next item that is not empty, without blanks around it, to be freed; or NULL. */
char *list_next(const char **at);

/* Part an item `NAME<sign>VALUE` at `sign`, which points into it: *name is the name and the answer
 * is the value, both without blanks around them.  NULL where there is no sign (NULL) or no name. */
char *list_part(char *item, char *sign, char **name);

#endif
