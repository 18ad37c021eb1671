#include <pol/pol.h>

const char *plugin_version(void)
{
    pol_array x;

    if (pol_alloc(pol_heap(), &x, pol_undef(POL_F32, 16)) != POL_OK) {
        return pol_last_error();
    }
    pol_release(&x);
    return pol_version();
}
