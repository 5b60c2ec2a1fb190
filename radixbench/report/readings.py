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
        "was not, by cause, from left to right in the order of the legend. First arrival: nobody had sent it before, or none but requests that failed. Concurrent "
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
        "The clocks of both arms should lie at the same height. Where one arm ran slower, the factor contains that "
        "too: where B did, it is an upper bound, where A did, a lower bound."
    ),
)

GPU = (
    (
        "On the strip of reasons, a coloured piece means that the driver reported this reason at that "
        "moment. Power cap, thermal and slowdown reasons hold the card below what it can do."
    ),
    (
        "Below a reason stands its share of each arm's measured time, where the driver counts that time, or of the "
        "samples. Reasons overlap, so their shares don't add up. A clock that stays low without any reason may be "
        "locked, or limited below what the driver tells."
    ),
    (
        "How much clocks alone could explain follows from the medians and means of whole runs while the card was at "
        "work. It bounds typical times and rates, not what requests wait at a fixed request rate. A p99 may have met "
        "the slowest moments, and goodput may fall by more, since a target can be missed by little."
    ),
)

CPU = (
    (
        "CPU frequency is the mean over cores as the operating system tells it; virtual machines often "
        "tell a constant. The load counts every process of the machine and should be alike in both arms."
    ),
)

FOREST = (
    (
        "A row is one cell. Its point is how many times better A did than B there, the line its interval over the "
        "seeds; right of 1 A is better, left of it worse. The axis is logarithmic: twice as good and half as good "
        "lie equally far from 1."
    ),
    (
        "A verdict takes two things: a line that leaves 1 out, and a point outside of the grey band of effects too "
        "small to matter. Hollow marks have no verdict, and say why."
    ),
    (
        "An arrow at an end means that the clocks favoured one side, so that the true factor lies in the arrow's "
        "direction: the one drawn is only a bound."
    ),
)

DISTRIBUTION = (
    (
        "Each arm's outline is a histogram of its requests' times to first token, all seeds together: the height is "
        "the share of requests in that stretch. Upright rules are the medians. A lies further left than B where it "
        "answers sooner."
    ),
    (
        "The strong part are requests that found at least half of their prompt cached, the faint one all others. Two "
        "humps of one arm are hits and misses; where they are one hump, something other than the prompt sets the time."
    ),
    (
        "These quantiles pool the requests of all seeds, while factors compare seed by seed: the two differ a little. "
        "A p99 of fewer than 100 requests is hardly more than the slowest of them."
    ),
)

GANTT = (
    (
        "A bar is a request, in the first lane that was free when it was due. The tall part lasts from sending to the first "
        "token, the low one to the last; a dotted line before it is waiting to be sent. A cross ends a request that failed."
    ),
    (
        "The filling of the tall part is what was found cached. With a cold cache the first of every group find "
        "nothing and are long, the ones after them short. Tall parts that end together shared a prefill batch."
    ),
    "The time axes of the arms differ in length: their titles tell how long each took.",
)

SCHEDULER = (
    (
        "A bar is one prefill batch, as wide as it took and as high as its prompt tokens: the computed ones below, "
        "those from the cache on top. Only computed tokens cost time. Between the bars the server decodes."
    ),
    (
        "The lines below are what the server had in hand: requests running and waiting, and how much of the pool "
        "running requests held. A queue that grows while the pool is full waits for room; one that grows while "
        "it isn't waits for prefill."
    ),
    "The time axes of the arms differ in length; the heights of the bars share one scale.",
)

LAW = (
    (
        "A mark is one request: how many tokens of its prompt had to be computed, and how long its first token took. "
        "The line is that of the median request: half of the marks lie above it, half below. Its slope is what "
        "computing a token costs, its height on the left what every request costs; the band is its interval over "
        "the seeds. A dashed curve is drawn where the line is bent by more than a tenth; factors at other lengths "
        "follow the curve, drawn or not, wherever the middle of the range was measured."
    ),
    (
        "Where cached tokens have a cost of their own, the line is that of requests that found nothing cached: hits lie "
        "above its left end, by what reading the cache and sharing a batch with others costs. The second picture takes "
        "that into account: it shows each request as a multiple of what the law says, and a good law has as many "
        "marks above 1 as below it all along the axis."
    ),
    (
        "The law describes this load, not the hardware: while several requests are in flight, a first token also waits "
        "for the prompts of the others. Slopes rise with concurrency, and the tokens per second that one request sees "
        "are fewer than the server computes for all. Marks high above their line waited for others."
    ),
)
