#include "textflag.h"

// func prefetchWrite(s *slot)
TEXT ·prefetchWrite(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ s+0(FP), AX
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX)
	RET
