package adapter

import (
	"context"
	"sync"
	"time"

	"github.com/millwright-dev/millwright/drivers/go/driverv1"
)

// grace is how long a call that changes something may continue after it was canceled.
const grace = time.Minute

// lasting returns the context of a call that changes something. MCM cancels none: a creation that ended in between could lead to a VM after its deletion.
func lasting(call context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(call))
	context.AfterFunc(call, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
	})
	return ctx, cancel
}

// turns lets one call of a machine run at a time, so that the next one sees the outcome of a call that was canceled.
type turns struct {
	mutex    sync.Mutex
	machines map[string]*turn
}

type turn struct {
	mutex sync.Mutex
	// users counts the calls that run or wait.
	users int
}

// take waits until no other call of the machine runs. The returned function ends the turn.
func (t *turns) take(machine *driverv1.Machine) func() {
	key := machine.GetNamespace() + "/" + machine.GetName()
	t.mutex.Lock()
	if t.machines == nil {
		t.machines = map[string]*turn{}
	}
	own := t.machines[key]
	if own == nil {
		own = &turn{}
		t.machines[key] = own
	}
	own.users++
	t.mutex.Unlock()
	own.mutex.Lock()
	return func() {
		own.mutex.Unlock()
		t.mutex.Lock()
		defer t.mutex.Unlock()
		if own.users--; own.users == 0 {
			delete(t.machines, key)
		}
	}
}
