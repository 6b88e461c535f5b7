package restore

import (
	"context"
	"errors"
)

func (j *Job) run(context.Context) (Result, error) {
	return Result{}, errors.New("the job is being built")
}
