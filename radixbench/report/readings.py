"""How to read each figure, in plain words: what a mark is, what good looks like, what trouble looks like."""

from __future__ import annotations

TTFT = (
    "Each mark is one seed: the median over the requests of one run. The line marks the means over seeds.",
    (
        "Lower is better. Without reuse the wait grows with the shared length, because every prompt is "
        "computed whole. With reuse it stays near the cost of the question alone."
    ),
    (
        "If the marks of one arm lie far apart at one place, the runs disagree, and the interval in the "
        "table is wide."
    ),
)

TTFT_BY_TURNS = (
    TTFT[0],
    (
        "Lower is better. Without reuse the wait grows with the number of turns, because every turn computes "
        "the whole conversation so far. With reuse it stays near the cost of the new question alone."
    ),
    TTFT[2],
)

TTFT_BY_OTHERS = (
    TTFT[0],
    (
        "Lower is better. Where an arm's wait grows from left to right, requests wait for each other or for "
        "prompts to be computed; the distance between the arms is what reuse takes off it."
    ),
    TTFT[2],
)

THROUGHPUT = (
    (
        "Each mark is one seed: the answer tokens of completed requests over the time from the first send "
        "to the last token. The line marks the means over seeds."
    ),
    (
        "Higher is better. The distance between the lines is what prefix reuse sets free for answers: time "
        "that isn't spent on prompts computed before."
    ),
)

CACHED = (
    (
        "A mark is what the server said it reused in one run. The bar is what a cache without limits would "
        "reuse for exactly these token ids in this order; it has a height where requests in flight "
        "together race for one prefix."
    ),
    (
        "A mark within its bar: the cache did all it could. Below the bar: reuse was lost, to eviction or "
        "to something else. Above it: the run was not as cold as declared."
    ),
)

LEVELS = (
    (
        "Each mark is one seed: cached over prompt tokens of one run. The same prompts are asked at every place, "
        "so that a cache with room gives the same rate everywhere."
    ),
    (
        "A rate that falls from left to right was lost to requests that wait for each other's prefixes or to "
        "eviction; the peak usage in the table tells whether the pool was full."
    ),
)

SHORTFALL = (
    (
        "A bar is all that the prompts of a cell share with each other, over all seeds: what was found cached, then what "
        "was not, by cause. First arrival: nobody had sent it before, or none but requests that failed. Concurrent "
        "first arrival: sent before, but perhaps still being computed. Page remainder: lost to whole pages."
    ),
    (
        "First arrivals are the price of a cold cache, and no fault. Eviction says that the pool was too small. "
        "Whatever is unexplained should have been reused and wasn't: the caveats and the table of "
        "witnesses are the places to look."
    ),
)

TURNS = (
    (
        "Each turn's prompt is the whole conversation so far: the first turn can reuse the shared prefix at most, "
        "later turns also what the turn before left, as far as they repeat it token by token. A mark is one seed, "
        "cached over prompt tokens of that turn; the bar is what a cache without limits would reach."
    ),
    (
        "A mark that falls below its bar in late turns points to eviction: the conversation left the pool "
        "before its next turn came."
    ),
)

TURNS_PROMPT_ONLY = "A dashed line is the level of a cache that keeps prompts and forgets answers."

CLOCKS = (
    (
        "The time axis is that of the whole measurement. The shaded stretches are the runs, in the colour "
        "of their arm; arms that alternate share whatever the machine did to them."
    ),
    (
        "The clocks of both arms should lie at the same height. Where one arm ran slower, the factor "
        "contains that too: with a slower reference it is an upper bound, with a slower candidate a lower "
        "bound."
    ),
)

GPU = (
    (
        "On the strip of reasons, a coloured piece means that the driver reported this reason at that "
        "moment. Power cap, thermal and slowdown reasons hold the card below what it can do."
    ),
)

CPU = (
    (
        "CPU frequency is the mean over cores as the operating system tells it; virtual machines often "
        "tell a constant. The load counts every process of the machine and should be alike in both arms."
    ),
)

PREFILL = (
    (
        "Each bar is one prefill batch of the scheduler. It begins and ends where the batch did; its "
        "height is the number of prompt tokens in it, the computed ones below, those from the cache on top."
    ),
    (
        "Only computed tokens cost time. With reuse, the first batches fill the cache and later ones are "
        "mostly cached. Without it the same prompts need more and longer batches."
    ),
    "The time axes of the arms differ in length; the heights share one scale.",
)
