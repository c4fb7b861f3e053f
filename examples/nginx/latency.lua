-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 the etwas authors
--
-- For wrk --script: one line with requests, how many a second, errors, and percentiles of the latency in microseconds.

done = function(summary, latency, requests)
   local errors = summary.errors
   io.write(string.format("requests %d requests/s %.0f errors %d p50 %d p99 %d p99.9 %d us\n",
      summary.requests, summary.requests / summary.duration * 1e6,
      errors.connect + errors.read + errors.write + errors.status + errors.timeout,
      latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
