"""Workers: who carries investigations on, in the server or on machines of their own."""
