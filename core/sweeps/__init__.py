"""Many evaluations, one a cell: the plan, the cells, their results, and the processes that compute them. No torch at
import."""
