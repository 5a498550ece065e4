package plot

import "testing"

func TestLabelsStandApart(t *testing.T) {
	for name, heights := range map[string][]float64{
		"together": {5, 5, 5, 5}, "at the top": {9.9, 10, 10}, "at the bottom": {0, 0, 0.5}, "apart": {1, 3, 9}, "one": {4}, "none": nil,
	} {
		labels := make([]label, len(heights))
		for i, y := range heights {
			labels[i].at.Y = y
		}
		separate(labels, 0, 10, 1)
		for i, l := range labels {
			if l.at.Y < 0 || l.at.Y > 10 || i > 0 && l.at.Y-labels[i-1].at.Y < 0.99 {
				t.Errorf("%s: label %d of %v stands at %v", name, i, heights, l.at.Y)
			}
			if name == "apart" && l.at.Y != heights[i] {
				t.Errorf("%s: moved from %v to %v", name, heights[i], l.at.Y)
			}
		}
	}
}
