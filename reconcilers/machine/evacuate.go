package machine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// HoldPrefix begins the annotations that hold a removal before its drain, such as
// evacuate.quorate.dev/longhorn: who moves storage off the node sets one beforehand
// and takes it away when it is done.
const HoldPrefix = "evacuate.quorate.dev/"

// Holds waits until no annotation holds the machine.
func Holds(_ context.Context, m *v1alpha1.TalosMachine, _ []storagev1.VolumeAttachment) (string, error) {
	var holds []string
	for name := range m.Annotations {
		if strings.HasPrefix(name, HoldPrefix) {
			holds = append(holds, name)
		}
	}
	slices.Sort(holds)
	if len(holds) == 0 {
		return "", nil
	}
	return "annotation " + strings.Join(holds, ", ") + " to be taken away", nil
}

// evacuate lets storage be moved off the node before pods are: once the member is
// gone, a control plane may have no API to ask any more.
func (c *cycle) evacuate(ctx context.Context) error {
	if c.mine().drained {
		return nil
	}
	attached, err := c.attachments(ctx)
	if err != nil {
		return err
	}
	ask := c.Evacuate
	if ask == nil {
		ask = Holds
	}
	waits, err := ask(ctx, c.machine, attached)
	if err != nil {
		return fmt.Errorf("evacuate the storage of Node %s: %w", c.node, err)
	}
	if waits == "" {
		return nil
	}
	c.onward(v1alpha1.ReasonEvacuating, fmt.Sprintf("Storage is being moved off Node %s (%s): waits for %s.", c.node, volumes(attached), waits))
	return c.over(ctx, blocked)
}

func volumes(attached []storagev1.VolumeAttachment) string {
	if len(attached) == 1 {
		return "1 volume is attached"
	}
	return fmt.Sprintf("%d volumes are attached", len(attached))
}

// attachments are those of the machine's Node.
func (c *cycle) attachments(ctx context.Context) ([]storagev1.VolumeAttachment, error) {
	var list storagev1.VolumeAttachmentList
	if err := c.Live.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list volume attachments: %w", err)
	}
	return slices.DeleteFunc(list.Items, func(a storagev1.VolumeAttachment) bool { return a.Spec.NodeName != c.node }), nil
}
