// Package herald delivers webhooks. This file decides whether a failed delivery may be attempted again.
//
// Author: Caleb Finch, 18 September 2026
package herald

import (
	"sync"
	"time"
)

// RetryBudget bounds the share of attempts that may be repetitions, over a sliding window of ten seconds.
// Without it, retries crowd out first attempts exactly when endpoints are slow (see INC-2024-031).
type RetryBudget struct {
	mu       sync.Mutex
	share    float64 // retry_budget in herald.yaml, 0.2 by default
	floor    int     // retries that are always allowed per window, so that quiet hours still heal
	window   time.Time
	attempts int
	retries  int
}

// NewRetryBudget returns a budget; share is clamped to 0..1.
func NewRetryBudget(share float64, floor int) *RetryBudget {
	return &RetryBudget{share: min(max(share, 0), 1), floor: floor}
}

// Spend records an attempt and says whether it may go out. First attempts always may.
func (b *RetryBudget) Spend(now time.Time, attempt int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.window) > 10*time.Second {
		b.window, b.attempts, b.retries = now, 0, 0
	}
	if attempt > 1 {
		if b.retries >= b.floor && float64(b.retries+1) > b.share*float64(b.attempts+1) {
			return false
		}
		b.retries++
	}
	b.attempts++
	return true
}

// backoff holds the waiting time before attempt n+1; after the last one the message goes to the dead-letter bucket.
var backoff = []time.Duration{
	30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 72 * time.Hour,
}
