/* The floor of releasing tasks: adjacency lists, open counts and a 4-ary heap, nothing else. */
#pragma once
#include <stdint.h>

typedef struct GraphFloor GraphFloor;

GraphFloor *graph_floor_new(uint32_t tasks, unsigned edges); /* edges as edge_of() says */
void graph_floor_reset(GraphFloor *floor);                   /* nothing is released yet */
/* Releases all tasks in order of score; returns how many. */
uint32_t graph_floor_release(GraphFloor *floor);
void graph_floor_free(GraphFloor *floor);
int32_t score_of(uint32_t task); /* the same for all sides */
