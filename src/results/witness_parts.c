/* SPDX-License-Identifier: MIT */
#include "results/witness_parts.h"

#include "util/memory.h"

struct witnessed_table *witnessed(const struct witness *witness, const struct witness_shape *shape)
{
    return &witness->tables[shape - witness_shapes];
}

void witness_add_part(struct witness *witness, const struct db_value *table, struct kept_part part)
{
    char *name = db_value_text(table);
    const struct witness_shape *shape = witness_shape_named(name);
    bool is_found = shape && shape->kind == BY_DAY && part.kept.rows &&
                    witnessed(witness, shape)->last_day != part.part;
    witness->parts = memory_grown(witness->parts, witness->part_count, sizeof *witness->parts);
    witness->parts[witness->part_count++] = (struct computed_part){ name, part, is_found };
}
