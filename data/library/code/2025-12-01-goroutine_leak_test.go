// A helper for tests: fails when a test leaves goroutines behind.
// Author: Tomasz Wrede, 1 December 2025. The tracker adopted it in October 2026.
package leakcheck

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// Check compares the stacks at the end of a test with those at its beginning. It waits up to two seconds, because a
// goroutine that has been told to stop may need a moment.
func Check(t *testing.T) {
	t.Helper()
	before := count()
	t.Cleanup(func() {
		deadline := time.Now().Add(2 * time.Second)
		for time.Now().Before(deadline) {
			if count() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("leaked %d goroutines:\n%s", count()-before, stacks())
	})
}

func count() int { return strings.Count(stacks(), "\n\n") + 1 }

func stacks() string {
	buffer := make([]byte, 1<<20)
	return string(buffer[:runtime.Stack(buffer, true)])
}
