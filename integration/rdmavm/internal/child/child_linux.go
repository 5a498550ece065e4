package child

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

// Run starts cmd in a process group of its own and waits for its end. The group is
// killed when ctx is done, and when the calling process dies.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	// The death signal follows the thread that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := ctx.Err(); err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	group := -cmd.Process.Pid
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
	defer stop()
	err := cmd.Wait()
	return errors.Join(ctx.Err(), err)
}
