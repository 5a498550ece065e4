package mpis_test

import (
	"slices"
	"testing"

	"gomx/bench/internal/mpis"
)

func TestWithoutLaunchers(t *testing.T) {
	got := mpis.WithoutLaunchers([]string{
		"HOME=/home", "PMI_RANK=1", "PMIX_RANK=0", "SLURM_NTASKS=4", "OMPI_COMM_WORLD_RANK=1",
		"OMPI_MCA_btl=self,vader", "MPIR_CVAR_X=1", "TMPDIR=/somewhere",
	})
	want := []string{"HOME=/home", "OMPI_MCA_btl=self,vader", "MPIR_CVAR_X=1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
