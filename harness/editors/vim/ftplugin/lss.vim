" Settings for LSS, as `lss fmt` lays it out.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1

setlocal commentstring=//\ %s comments=s1:/*,mb:*,ex:*/,:// shiftwidth=2 softtabstop=2 expandtab
setlocal suffixesadd=.lss equalprg=lss\ fmt\ -
if !exists("current_compiler")
  setlocal makeprg=lss\ check\ % errorformat=%f:%l:%c:\ %trror[%*[^]]]:\ %m,%f:%l:%c:\ %tarning[%*[^]]]:\ %m,%f:%l:%c:\ %tote:\ %m,%-G%.%#
endif
let b:undo_ftplugin = "setlocal commentstring< comments< shiftwidth< softtabstop< expandtab< suffixesadd< equalprg< makeprg< errorformat<"
